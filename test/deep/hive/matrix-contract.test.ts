/** The transport contract over the Matrix backend on further strict fake homeservers, and with both switches on. */
import { onFake } from '../../contract/hive/hive-stage.ts';
import { hiveTransportContract } from '../../contract/hive/hive-transport.contract.ts';
import { withSealedParts } from '../../contract/hive/hive-transport-ground.ts';
import { matrixGround } from '../../extensions/hive/matrix-stage.ts';

hiveTransportContract('matrix, encrypted, notes sealed', () =>
  withSealedParts((partsOf) => matrixGround(onFake({ cachesSync: true }), partsOf)),
);
hiveTransportContract('matrix, rooms of version 12, a server with a port that caches', () =>
  matrixGround(onFake({ roomVersion: '12', serverName: 'localhost:8448', cachesSync: true })),
);

/** The transport contract over the Matrix backend with both switches on, on strict fake homeservers. */
import { onFake } from '../../contract/hive/hive-fake-server.ts';
import { withSealedParts } from '../../contract/hive/hive-sealed-parts.ts';
import { hiveTransportContract } from '../../contract/hive/hive-transport.contract.ts';
import { matrixGround } from '../../extensions/hive/matrix/hive-matrix-ground.ts';

hiveTransportContract('matrix, encrypted, notes sealed', () =>
  withSealedParts((partsOf) => matrixGround(onFake({ cachesSync: true }), partsOf)),
);

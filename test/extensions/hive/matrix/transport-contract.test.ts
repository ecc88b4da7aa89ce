/** The transport contract over the Matrix backend, on strict fake homeservers. */
import { onFake } from '../../../contract/hive/hive-fake-server.ts';
import { hiveTransportContract } from '../../../contract/hive/hive-transport.contract.ts';
import { matrixGround } from './hive-matrix-ground.ts';

hiveTransportContract('matrix, rooms of version 11', () => matrixGround(onFake()));
hiveTransportContract('matrix, rooms of version 12, a server with a port that caches', () =>
  matrixGround(onFake({ roomVersion: '12', serverName: 'localhost:8448', cachesSync: true })),
);

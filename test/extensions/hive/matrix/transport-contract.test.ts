/** The transport contract over the Matrix backend, on strict fake homeservers. */
import { hiveTransportContract } from '../../../contract/hive/hive-transport.contract.ts';
import { matrixGround } from './hive-matrix-ground.ts';

hiveTransportContract('matrix, rooms of version 11', () => matrixGround());
hiveTransportContract('matrix, rooms of version 12, a server with a port that caches', () =>
  matrixGround({ roomVersion: '12', serverName: 'localhost:8448', cachesSync: true }),
);

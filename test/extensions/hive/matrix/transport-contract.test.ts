/** The transport contract over the Matrix backend, on a strict fake homeserver; other versions of rooms in the deep run. */
import { onFake } from '../../../contract/hive/hive-fake-server.ts';
import { hiveTransportContract } from '../../../contract/hive/hive-transport.contract.ts';
import { matrixGround } from './hive-matrix-ground.ts';

hiveTransportContract('matrix, rooms of version 11', () => matrixGround(onFake()));

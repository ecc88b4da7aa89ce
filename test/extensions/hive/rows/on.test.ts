/** The rows in which keys matter most, on the strict fake homeserver, both switches on; all of them run in test/deep/hive. */
import { ON, rowsOn } from '../../../contract/hive/agent/hive-stage.ts';
import { onFake } from '../../../contract/hive/hive-fake-server.ts';
import { rowsWithKeys } from '../../../contract/hive/rows/hive-rows.ts';

rowsWithKeys(rowsOn({ name: 'fake homeserver', isFake: true, start: onFake() }, ON));

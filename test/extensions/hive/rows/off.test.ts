/** The rows of the peers seed on the strict fake homeserver, both switches off; servers that fail are in test/deep/hive. */
import { OFF, rowsOn } from '../../../contract/hive/agent/hive-stage.ts';
import { onFake } from '../../../contract/hive/hive-fake-server.ts';
import { quickRows } from '../../../contract/hive/rows/hive-rows.ts';

quickRows(rowsOn({ name: 'fake homeserver', isFake: true, start: onFake() }, OFF));

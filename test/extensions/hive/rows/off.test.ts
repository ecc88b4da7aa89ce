/** The rows of the peers seed on the strict fake homeserver, both switches off. */
import { OFF, rowsOn } from '../../../contract/hive/agent/hive-stage.ts';
import { onFake } from '../../../contract/hive/hive-fake-server.ts';
import { allRows } from '../../../contract/hive/rows/hive-rows.ts';

allRows(rowsOn({ name: 'fake homeserver', isFake: true, start: onFake() }, OFF));

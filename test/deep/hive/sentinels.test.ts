/** With both switches on the fake homeserver keeps nothing that was said or noted in a form that it could read. */
import { ON, rowsOn } from '../../contract/hive/agent/hive-stage.ts';
import { onFake } from '../../contract/hive/hive-fake-server.ts';
import { rowsOfSentinels } from '../../contract/hive/rows/hive-rows-sentinels.ts';

rowsOfSentinels(rowsOn({ name: 'fake homeserver', isFake: true, start: onFake() }, ON));

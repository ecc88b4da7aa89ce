/** With both switches on the fake homeserver keeps nothing that was said or noted in a form that it could read. */
import { ON, onFake, rowsOn } from '../../contract/hive/hive-stage.ts';
import { rowsOfSentinels } from '../../contract/hive/rows.contract.ts';

rowsOfSentinels(rowsOn({ name: 'fake homeserver', isFake: true, start: onFake() }, ON));

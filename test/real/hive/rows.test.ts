/** All rows of the peers seed on a real homeserver, both switches off and both on. */
import { OFF, ON, rowsOn } from '../../contract/hive/hive-stage.ts';
import { onSynapse } from '../../contract/hive/hive-synapse-server.ts';
import { allRows, rowsOfSentinels } from '../../contract/hive/rows.contract.ts';

onSynapse('peers on a real homeserver', (start) => {
  for (const mode of [OFF, ON]) allRows(rowsOn({ name: 'synapse', isFake: false, start }, mode));
  rowsOfSentinels(rowsOn({ name: 'synapse', isFake: false, start }, ON));
});

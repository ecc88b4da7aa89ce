/** All rows of the peers seed on the strict fake homeserver, in all four settings of the two switches. */
import { OFF, ON, rowsOn } from '../../contract/hive/agent/hive-stage.ts';
import { onFake } from '../../contract/hive/hive-fake-server.ts';
import { allRows } from '../../contract/hive/rows/hive-rows.ts';

const fake = { name: 'fake homeserver', isFake: true, start: onFake() };
for (const mode of [OFF, ON, { e2ee: true, encryptAccountData: false }, { e2ee: false, encryptAccountData: true }])
  allRows(rowsOn(fake, mode));

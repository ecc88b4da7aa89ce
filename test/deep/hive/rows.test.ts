/** All rows of the peers seed on the strict fake homeserver, in all four settings of the two switches. */
import { OFF, ON, onFake, rowsOn } from '../../contract/hive/hive-stage.ts';
import { allRows } from '../../contract/hive/rows.contract.ts';

const fake = { name: 'fake homeserver', isFake: true, start: onFake() };
for (const mode of [OFF, ON, { e2ee: true, encryptAccountData: false }, { e2ee: false, encryptAccountData: true }])
  allRows(rowsOn(fake, mode));

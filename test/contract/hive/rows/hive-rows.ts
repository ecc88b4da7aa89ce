/** All rows of the peers seed on one ground in one mode. */
import type { Rows } from '../agent/hive-stage.ts';
import { rowsOfFaults } from './hive-rows-faults.ts';
import { rowsOfForeignWords } from './hive-rows-foreign.ts';
import { rowsOfGuide } from './hive-rows-guide.ts';
import { rowsOfHost } from './hive-rows-host.ts';
import { rowsOfIntroductions } from './hive-rows-introduce.ts';
import { rowsOfMessages } from './hive-rows-messages.ts';
import { rowsOfModels } from './hive-rows-models.ts';
import { rowsOfNotes } from './hive-rows-notes.ts';
import { rowsOfPeers } from './hive-rows-peers.ts';
import { rowsOfProtection } from './hive-rows-protection.ts';
import { rowsOfRestarts } from './hive-rows-restart.ts';
import { rowsOfSparks } from './hive-rows-sparks.ts';
import { rowsOfSync } from './hive-rows-sync.ts';

export function allRows(rows: Rows): void {
  quickRows(rows);
  rowsOfFaults(rows);
}

/** All but what waits for servers that fail. */
export function quickRows(rows: Rows): void {
  rowsOfGuide(rows);
  rowsOfHost(rows);
  rowsOfPeers(rows);
  rowsOfNotes(rows);
  rowsOfMessages(rows);
  rowsOfIntroductions(rows);
  rowsOfSync(rows);
  rowsOfProtection(rows);
  rowsOfRestarts(rows);
  rowsOfSparks(rows);
  rowsOfModels(rows);
  rowsOfForeignWords(rows);
}

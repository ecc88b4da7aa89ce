// Owns taking a text out of a database whose tables nobody here knows. Knows no table by name.
// Invariant: inside the caller's transaction; keys, references and full-text tables are never touched; only prose changes (a single word
// in a cell may be a state or a name); JSON keeps its form.

import type { Database } from '#base/database/connection.ts';
import { parseJson } from '#base/json.ts';
import { mapTexts } from './json-texts.ts';
import { variantsOf } from './select-messages.ts';

export const FORGOTTEN = '[forgotten]';

/** Gives the number of cells that were changed. */
export function sweepText(database: Database, text: string): number {
  const replace = inProse(replacing(text));
  let changed = 0;
  for (const table of plainTables(database)) {
    for (const column of freeColumns(database, table)) changed += sweepColumn(database, { table, column }, replace);
  }
  return changed;
}

/** Every occurrence replaced, upper and lower case alike. */
export function replacing(text: string): (candidate: string) => string {
  const escaped = variantsOf(text).map((variant) => variant.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(escaped.join('|'), 'giu');
  return (candidate) => candidate.replace(pattern, FORGOTTEN);
}

/** In texts of more than one word, also within JSON. */
function inProse(replace: (text: string) => string): (cell: string) => string {
  const inText = (text: string) => (/\s/.test(text.trim()) ? replace(text) : text);
  return (cell) => {
    if (!/^[[{]/.test(cell) || replace(cell) === cell) return inText(cell);
    const parsed = parseJson(cell);
    return parsed.ok ? JSON.stringify(mapTexts(parsed.value, inText)) : inText(cell);
  };
}

/** Neither virtual tables nor those that they keep their data in. */
function plainTables(database: Database): readonly string[] {
  const tables = database.all<{ name: string; type: string }>(
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'",
  );
  return tables.filter(({ type }) => type === 'table').map(({ name }) => name);
}

function freeColumns(database: Database, table: string): readonly string[] {
  const bound = new Set(
    database
      .all<{ name: string }>(
        `SELECT i.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i WHERE l."unique" = 1
         UNION SELECT "from" FROM pragma_foreign_key_list(?1)`,
        table,
      )
      .map(({ name }) => name),
  );
  return database
    .all<{ name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?)', table)
    .filter(({ name, pk }) => pk === 0 && !bound.has(name))
    .map(({ name }) => name);
}

interface Column {
  readonly table: string;
  readonly column: string;
}

function sweepColumn(database: Database, { table, column }: Column, replace: (text: string) => string): number {
  const at = `"${column.replaceAll('"', '""')}"`;
  const from = `"${table.replaceAll('"', '""')}"`;
  const held = new Map<string, string>();
  const cells = database.iterate<{ cell: string }>(`SELECT ${at} AS cell FROM ${from} WHERE typeof(${at}) = 'text'`);
  for (const { cell } of cells) {
    const next = replace(cell);
    if (next !== cell) held.set(cell, next);
  }
  let changed = 0;
  for (const [old, next] of held)
    changed += database.run(`UPDATE ${from} SET ${at} = ? WHERE ${at} = ?`, next, old).changes;
  return changed;
}

// Owns the tables of one search lane. What people and the agent said (`spoken`) and what tools gave back (`tool`) are two lanes, so that
// long outputs never crowd out a sentence. Invariant: `<lane>_index` always agrees with `<lane>_terms`, since both change in one transaction.

export type LaneName = 'spoken' | 'tool';

/** Terms are stemmed before they come here, so the tokenizer only splits at spaces. */
const TOKENIZER = `unicode61 remove_diacritics 0 categories ''L* N* M* S* P* C*''`;

export function laneTables(lane: LaneName): string {
  return `
CREATE TABLE ${lane}_terms(
  id INTEGER PRIMARY KEY REFERENCES messages(id),
  session INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  speaker TEXT NOT NULL,
  at INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  terms TEXT NOT NULL
);
CREATE INDEX ${lane}_terms_by_turn ON ${lane}_terms(session, turn);
${indexTable(lane)}
CREATE TABLE ${lane}_words(
  word TEXT PRIMARY KEY,
  rows INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE ${lane}_counts(
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
`;
}

/** Row ids only (detail none): positions and lengths are read from \`_terms\` for the few rows that are ranked. */
export function indexTable(lane: LaneName): string {
  return `CREATE VIRTUAL TABLE ${lane}_index USING fts5(
  terms, content='${lane}_terms', content_rowid='id', columnsize=0, detail=none, tokenize='${TOKENIZER}'
);`;
}

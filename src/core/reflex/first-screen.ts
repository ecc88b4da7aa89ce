// Owns the three things to type on the first screen: lines that work in this very folder.
// Knows no disk: the caller gives the names of the folder's entries. Invariant: always three, each known to match a rule.

export interface FolderFacts {
  /** Names of entries; a folder's name ends with `/`. */
  readonly entries: readonly string[];
}

const RUNNABLE: readonly (readonly [file: RegExp, line: string])[] = [
  [/^package\.json$/, 'run `npm test`'],
  [/^Cargo\.toml$/, 'run `cargo test`'],
  [/^go\.mod$/, 'run `go test ./...`'],
  [/^(pyproject\.toml|pytest\.ini|setup\.py)$/, 'run `python3 -m pytest`'],
  [/^Makefile$/, 'run `make -n`'],
  [/^\.git\/$/, 'run `git status`'],
];

const READABLE: readonly RegExp[] = [
  /^readme(\.\w+)?$/i,
  /\.md$/i,
  /^package\.json$/,
  /\.(txt|ya?ml|toml|json|csv)$/i,
  /\.(ts|js|py|go|rs|c|java|rb)$/i,
];

export function firstScreenSuggestions(facts: FolderFacts): readonly [string, string, string] {
  const run = RUNNABLE.find(([file]) => facts.entries.some((entry) => file.test(entry)))?.[1] ?? 'run `date`';
  return [readSuggestion(facts.entries), run, rememberSuggestion(facts.entries)];
}

/** Something that is true of this folder, so that it may be typed as it stands. */
function rememberSuggestion(entries: readonly string[]): string {
  const kind = KINDS.find(([file]) => entries.some((entry) => file.test(entry)))?.[1];
  return kind === undefined ? 'remember that I tried Talaria here' : `remember that this project is written in ${kind}`;
}

const KINDS: readonly (readonly [file: RegExp, language: string])[] = [
  [/^tsconfig\.json$/, 'TypeScript'],
  [/^package\.json$/, 'JavaScript'],
  [/^Cargo\.toml$/, 'Rust'],
  [/^go\.mod$/, 'Go'],
  [/^(pyproject\.toml|setup\.py|requirements\.txt)$/, 'Python'],
];

function readSuggestion(entries: readonly string[]): string {
  for (const kind of READABLE) {
    const name = entries.find((entry) => kind.test(entry));
    if (name !== undefined) return `read ${/^[\w.@+-]+$/.test(name) ? name : `"${name}"`}`;
  }
  const folder = entries.find((entry) => entry.endsWith('/') && /^[\w@+-]+\/$/.test(entry));
  return folder === undefined ? 'list the files here' : `list the files in ${folder}`;
}

// Owns what a folder offers: the commands that its project files name, and three lines to type that work there.
// Knows no disk: the caller gives names and texts. Invariant: a script is one that a file really names; each suggestion is of a rule.
import { isJsonObject, parseJsonObject } from '#base/json.ts';
import type { ProjectScript, ReflexFolder } from '#core/agent/reflex-rule.ts';

/** Files that may name commands. */
export const PROJECT_FILES = [
  'package.json',
  'Makefile',
  'makefile',
  'pyproject.toml',
  'Cargo.toml',
  'go.mod',
] as const;

export function projectScripts(file: string, text: string): readonly ProjectScript[] {
  const named = (name: string, command: string): ProjectScript => ({ name, command, file });
  switch (file) {
    case 'package.json':
      return packageScripts(text).map((name) =>
        named(name, /^(?:test|start)$/.test(name) ? `npm ${name}` : `npm run ${name}`),
      );
    case 'Makefile':
    case 'makefile':
      return [...text.matchAll(/^([A-Za-z][\w-]*)\s*:(?!=)/gm)].map(([, name = '']) => named(name, `make ${name}`));
    case 'pyproject.toml':
      return pythonScripts(text).map(([name, command]) => named(name, command));
    case 'Cargo.toml':
      return [named('test', 'cargo test'), named('build', 'cargo build'), named('start', 'cargo run')];
    case 'go.mod':
      return [named('test', 'go test ./...'), named('build', 'go build ./...')];
    default:
      return [];
  }
}

function packageScripts(text: string): readonly string[] {
  const parsed = parseJsonObject(text);
  const scripts = parsed.ok ? parsed.value.scripts : undefined;
  return isJsonObject(scripts) ? Object.keys(scripts).filter((name) => /^[\w:.-]+$/.test(name)) : [];
}

function pythonScripts(text: string): readonly (readonly [name: string, command: string])[] {
  const section = /^\[(?:project|tool\.poetry)\.scripts\]\s*\n((?:(?!\[).*\n?)*)/m.exec(text)?.[1] ?? '';
  const own = [...section.matchAll(/^([\w-]+)\s*=/gm)].map(([, name = '']) => [name, name] as const);
  const build = /^\[build-system\]/m.test(text) ? [['build', 'python3 -m build'] as const] : [];
  return [...(/\bpytest\b/.test(text) ? [['test', 'python3 -m pytest'] as const] : []), ...build, ...own];
}

const READABLE: readonly RegExp[] = [
  /^readme(\.\w+)?$/i,
  /\.md$/i,
  /^package\.json$/,
  /\.(txt|ya?ml|toml|json|csv)$/i,
  /\.(ts|js|py|go|rs|c|java|rb)$/i,
];

/** For the first screen and for a refusal: always three, each of a rule. */
export function folderSuggestions({ entries, scripts }: ReflexFolder): readonly [string, string, string] {
  const test = scripts.find(({ name }) => name === 'test') ?? scripts[0];
  const git = entries.includes('.git/') ? 'run `git status`' : 'run `date`';
  return [
    readSuggestion(entries),
    test === undefined ? git : `run \`${test.command}\``,
    'remember that I tried Talaria here',
  ];
}

function readSuggestion(entries: readonly string[]): string {
  for (const kind of READABLE) {
    const name = entries.find((entry) => kind.test(entry));
    if (name !== undefined) return `read ${/^[\w.@+-]+$/.test(name) ? name : `"${name}"`}`;
  }
  const folder = entries.find((entry) => /^[\w@+-]+\/$/.test(entry));
  return folder === undefined ? 'list the files here' : `list the files in ${folder}`;
}

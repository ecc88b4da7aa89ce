// Owns the world of the trial on real files (hierarchy notes G): houses of three small repositories, the faults that are planted in their worktrees,
// and a domain that meets one a tick. Knows no golem, no mind and no arm. Invariants: a seed gives the same files, commits and incidents; what is
// planted lies in files that git ignores, beside a checkout that is as it was committed; a fault is cured by its own tasks and by no other.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { seededRandom, shuffled } from '#base/ids.ts';
import { runProcess } from '#base/process.ts';
import type { DomainPlugin } from '../domains/domain.ts';
import { type EnclosedPlace, MOST_CHARS, plainVariables } from '../domains/enclosed.ts';

type Variables = EnclosedPlace['env'];

/** `here`: what a parent lived in; `next`: the same conventions in other words; `elsewhere`: other words, and other names of what cures. */
export type Dialect = 'here' | 'next' | 'elsewhere';

/** What a house calls its tasks, by what they do. */
const NAMES = {
  ...{ build: ['build', 'compile', 'bundle'], rebuild: ['rebuild', 'afresh', 'remake'] },
  ...{ generate: ['generate', 'codegen', 'emit'], env: ['env', 'settings', 'variables'] },
  ...{ seed: ['seed', 'populate', 'fill'] },
  ...{ lint: ['lint', 'check', 'inspect'], format: ['format', 'tidy', 'polish'] },
  ...{ docs: ['docs', 'manual', 'handbook'], bench: ['bench', 'measure', 'time'] },
};
type Task = keyof typeof NAMES;
const TASKS = Object.keys(NAMES) as readonly Task[];
type Names = Readonly<Record<Task, string>>;

export const FAULTS = ['unbuilt', 'ungenerated', 'unset', 'unseeded', 'stale'] as const;
type Fault = (typeof FAULTS)[number];

export interface Project {
  readonly name: string;
  /** The checkout. What its tasks make is there, and git ignores it. */
  readonly path: string;
  /** The only one. */
  readonly commit: string;
  readonly names: Names;
}

export interface Incident {
  readonly project: Project;
  readonly fault: Fault;
  /** Labels of the tasks of which any cures it. */
  readonly cures: readonly string[];
}

const CURES: Readonly<Record<Fault, readonly Task[]>> = {
  unbuilt: ['build', 'rebuild'],
  ungenerated: ['generate'],
  unset: ['env'],
  unseeded: ['seed'],
  stale: ['rebuild'],
};
const GONE = { unbuilt: 'dist', ungenerated: 'gen', unset: '.env', unseeded: 'data' } as const;

/** First lines of what the tests print: what two dialects say shares its telling words in part. N: name of the project. */
const SAID: Readonly<Record<Fault, Readonly<Record<Dialect, string>>>> = {
  unbuilt: {
    here: 'cannot load dist/N.js: no bundle was compiled, the output folder is absent',
    next: 'cannot open dist/N.js: the compiled bundle and its folder are missing',
    elsewhere: 'panic: nothing executable turned up beneath the target',
  },
  ungenerated: {
    here: 'fatal: gen/N.mjs is imported, but the parser was never emitted from the schema',
    next: 'fatal: gen/N.mjs: of the schema no fields were emitted',
    elsewhere: 'exception: undeclared stubs, the grammar left a hole',
  },
  unset: {
    here: "environment error: .env lacks 'N_PORT', the settings stay unset at start",
    next: "environment error: 'N_PORT' is unset, copy the settings first",
    elsewhere: 'could not determine who listens, and on which socket',
  },
  unseeded: {
    here: 'failure: the store data/seed.json holds no records, rows of the table are wanting',
    next: 'failure: data/seed.json: sample rows of the store are wanting',
    elsewhere: 'not ok: empty catalogue, nobody inserted anything',
  },
  stale: {
    here: 'assertion: the stamp differs, an artefact is outdated since the sources were edited',
    next: 'assertion: an outdated artefact, its stamp and the sources disagree',
    elsewhere: 'exception: digest of yesterday, expected that of today',
  },
};

const NOUNS = ['ledger', 'parcel', 'ticket', 'roster', 'recipe', 'meter', 'voyage', 'harvest', 'payroll', 'tariff'];
const FIELDS = ['amount', 'weight', 'hours', 'units', 'price', 'rate', 'length', 'share'];
const DIALECTS: readonly Dialect[] = ['here', 'next', 'elsewhere'];

/** Three projects below that folder; `next` has one whose generated code comes from another task. Throws TalariaError `trial-broken`. */
export async function buildHouse(
  folder: string,
  seed: number,
  dialect: Dialect,
  env: Variables,
): Promise<readonly Project[]> {
  const at = DIALECTS.indexOf(dialect) * 3;
  const shared = seededRandom(seed);
  const nouns = shuffled(NOUNS, shared).slice(at, at + 3);
  const common = namesBy((task) => NAMES[task][Math.floor(shared() * 3)] ?? task);
  const random = seededRandom(seed * 10 + at);
  const strange = shuffled(Object.values(common), random);
  const drifted = { ...common, generate: common.docs, docs: common.generate };
  const projects: Project[] = [];
  for (const name of nouns) {
    const usual = dialect === 'next' && name === nouns[0] ? drifted : common;
    const names = dialect === 'elsewhere' ? namesBy((task) => strange[TASKS.indexOf(task)] ?? task) : usual;
    projects.push(await buildProject(join(folder, name), { name, names, dialect, random }, env));
  }
  return projects;
}

function namesBy(of: (task: Task) => string): Names {
  return Object.fromEntries(TASKS.map((task) => [task, of(task)])) as Names;
}

type Plan = Pick<Project, 'name' | 'names'> & { readonly dialect: Dialect; readonly random: () => number };

/** Committed, then all made, and its tests have passed. */
async function buildProject(path: string, plan: Plan, env: Variables): Promise<Project> {
  const { name, names } = plan;
  for (const [file, text] of Object.entries(filesOf(plan))) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), text);
  }
  const made = (['build', 'generate', 'env', 'seed'] as const).map((task) => `sh tasks/${names[task]}.sh`);
  const kept = ['git init -q', 'git add -A', "git commit -q -m 'first'"];
  const all = [...kept, ...made, 'sh test.sh > out', 'rm out', 'git rev-parse HEAD'];
  const commit = await inShell(all.join(' && '), path, env);
  return { name, path, names, commit: commit.trim() };
}

/** Without end: each fault in each project once, in an order drawn anew, before any comes again. */
export function* incidentsOf(projects: readonly Project[], stream: number): Generator<Incident, never> {
  const random = seededRandom(stream);
  const curesOf = (fault: Fault, { names }: Project) => CURES[fault].map((task) => `sh tasks/${names[task]}.sh`);
  const all = projects.flatMap((project) =>
    FAULTS.map((fault) => ({ project, fault, cures: curesOf(fault, project) })),
  );
  for (;;) yield* shuffled(all, random);
}

/** Makes a worktree as the checkout is, with all made, but for the fault. Runs nothing: who worked there may have left what git obeys. */
export function plant({ project, fault }: Incident, worktree: string): void {
  for (const name of readdirSync(worktree).filter((one) => one !== '.git'))
    rmSync(join(worktree, name), { recursive: true, force: true });
  cpSync(project.path, worktree, { recursive: true, filter: (from) => basename(from) !== '.git' });
  if (fault === 'stale') {
    const built = join(worktree, 'dist', `${project.name}.js`);
    writeFileSync(built, readFileSync(built, 'utf8').replace('edition = 2', 'edition = 1'));
    writeFileSync(join(worktree, 'dist', 'stamp'), '0 0\n');
  } else rmSync(join(worktree, GONE[fault]), { recursive: true });
}

/** Meets one incident a tick; everything else is asked of the domain of its project. */
export function createHouseDomain(
  incidents: ReturnType<typeof incidentsOf>,
  projects: ReadonlyMap<string, { readonly domain: DomainPlugin; readonly worktree: string }>,
): DomainPlugin {
  const all = [...projects.values()];
  let [there] = all;
  const here = () => {
    if (there === undefined) throw new TalariaError('a house without its project', { code: 'trial-broken' });
    return there.domain;
  };
  const { archetypes, categories, tools } = here();
  return {
    ...{ id: 'coding', archetypes, categories, tools },
    async observe(signal) {
      const incident = incidents.next().value;
      const { name } = incident.project;
      there = projects.get(name);
      if (there) plant(incident, there.worktree);
      const seen = await here().observe(signal);
      return { ...seen, text: `In ${name}/: ${seen.text}`.slice(0, MOST_CHARS) };
    },
    candidates: (seen) => here().candidates(seen),
    act: (action, signal) => here().act(action, signal),
    verify: (seen, signal) => here().verify(seen, signal),
    guard: (action) => here().guard(action),
    changed: (sinceMs) => here().changed(sinceMs),
    verifyClaim: (text) => here().verifyClaim?.(text) ?? 'unknown',
    conclude: async (outcome, signal) => here().conclude?.(outcome, signal),
    settle: async (signal) => {
      for (const { domain } of all) await domain.settle?.(signal);
    },
    close: async () => {
      for (const { domain } of all) await domain.close();
    },
  };
}

/** Nobody's settings, and one moment: a commit of the same files is the same commit. */
const GIT = {
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  ...{ GIT_AUTHOR_NAME: 'house', GIT_COMMITTER_NAME: 'house' },
  ...{ GIT_AUTHOR_EMAIL: 'house@localhost', GIT_COMMITTER_EMAIL: 'house@localhost' },
  ...{ GIT_AUTHOR_DATE: '2026-01-15T12:00:00Z', GIT_COMMITTER_DATE: '2026-01-15T12:00:00Z' },
};

/** Gives what it printed. Throws `trial-broken` when it fails. */
async function inShell(line: string, cwd: string, env: Variables): Promise<string> {
  const request = { argv: ['/bin/sh', '-c', line], cwd, env: { ...plainVariables(env), ...GIT } };
  const limits = { timeoutMs: 120_000 };
  const { exitCode, output, error } = await runProcess({ ...request, limits }, new AbortController().signal);
  if (exitCode === 0) return output.text;
  throw new TalariaError(`${cwd}: ${line}: ${error ?? output.text}`, {
    code: 'trial-broken',
    fix: 'The trial needs git, node and a POSIX shell with awk, sed and cksum on PATH.',
  });
}

function filesOf({ name, names, dialect, random }: Plan): Readonly<Record<string, string>> {
  const [one = '', other = ''] = shuffled(FIELDS, random);
  const rows = [1, 2, 3].map(() => [1 + Math.floor(random() * 20), 1 + Math.floor(random() * 20)] as const);
  const port = 8_000 + Math.floor(random() * 1_000);
  const sum = rows.reduce((all, [a, b]) => all + a * b, 0);
  const tasks = Object.entries(tasksOf(name, [one, other]));
  return {
    '.gitignore': 'dist/\ngen/\ndata/\ndocs/\n.env\n',
    'package.json': `{ "name": "${name}", "private": true, "type": "module" }\n`,
    'env.example': `${name.toUpperCase()}_PORT=${port}\n`,
    [`schema/${name}.txt`]: `${one}\n${other}\n`,
    [`seeds/${name}.csv`]: rows.map((row) => `${row.join()}\n`).join(''),
    [`src/${name}.js`]: sourceOf(name),
    [`test/${name}.test.js`]: testOf(name, { sum, port }),
    'test.sh': script(checksOf(name, dialect)),
    ...Object.fromEntries(tasks.map(([task, lines]) => [`tasks/${names[task as Task]}.sh`, script(lines)])),
  };
}

function script(lines: readonly string[]): string {
  return ['#!/bin/sh', 'set -e', ...lines, ''].join('\n');
}

/** By what they do. */
function tasksOf(name: string, [one, other]: readonly [string, string]): Readonly<Record<Task, readonly string[]>> {
  const build = ['mkdir -p dist', `cp src/${name}.js dist/${name}.js`, `cksum < src/${name}.js > dist/stamp`];
  const pair = `"{\\"${one}\\": %s, \\"${other}\\": %s}"`;
  return {
    build: [`if [ -e dist/${name}.js ]; then echo "dist/${name}.js is there"; exit 0; fi`, ...build],
    rebuild: ['rm -rf dist', ...build],
    generate: [
      'mkdir -p gen',
      `awk '{ printf "export const field%s = \\"%s\\";\\n", NR, $1 }' schema/${name}.txt > gen/${name}.mjs`,
    ],
    env: ['cp env.example .env'],
    seed: [
      'mkdir -p data',
      `awk -F, 'BEGIN { print "[" } { printf "%s", (NR > 1 ? "," : ""); printf ${pair}, $1, $2 }`,
      `END { print "]" }' seeds/${name}.csv > data/seed.json`,
    ],
    lint: [`if grep -n ' $' src/${name}.js; then exit 1; fi`, `echo "src/${name}.js is clean"`],
    format: [`sed 's/ *$//' src/${name}.js > src/${name}.new`, `mv src/${name}.new src/${name}.js`],
    docs: ['mkdir -p docs', `grep '^export' src/${name}.js > docs/${name}.md`],
    bench: ['rounds=0', 'while [ "$rounds" -lt 500 ]; do rounds=$((rounds + 1)); done', 'echo "$rounds rounds"'],
  };
}

/** Says at once what is not there, before anything is started. */
function checksOf(name: string, dialect: Dialect): readonly string[] {
  const told = (fault: Fault) =>
    SAID[fault][dialect].replaceAll('N_', `${name.toUpperCase()}_`).replaceAll('N.', `${name}.`);
  const unless = (test: string, fault: Fault) => `${test} || { echo "${told(fault)}"; exit 1; }`;
  return [
    unless(`[ -s gen/${name}.mjs ]`, 'ungenerated'),
    unless(`[ -s dist/${name}.js ]`, 'unbuilt'),
    unless(`[ "$(cat dist/stamp)" = "$(cksum < src/${name}.js)" ]`, 'stale'),
    unless('[ -s .env ]', 'unset'),
    unless('[ -s data/seed.json ]', 'unseeded'),
    'set -a',
    '. ./.env',
    `exec node --test test/${name}.test.js`,
  ];
}

function sourceOf(name: string): string {
  return [
    "import { readFileSync } from 'node:fs';",
    `import { field1, field2 } from '../gen/${name}.mjs';`,
    '',
    'export const edition = 2;',
    '',
    "export const rows = JSON.parse(readFileSync(new URL('../data/seed.json', import.meta.url), 'utf8'));",
    '',
    `export function ${name}Total() {`,
    '  return rows.reduce((sum, row) => sum + row[field1] * row[field2], 0);',
    '}',
    '',
  ].join('\n');
}

function testOf(name: string, { sum, port }: { readonly sum: number; readonly port: number }): string {
  return [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    `import { edition, ${name}Total } from '../dist/${name}.js';`,
    '',
    `test('the ${name} adds up', () => {`,
    `  assert.deepEqual([edition, ${name}Total()], [2, ${sum}]);`,
    `  assert.equal(process.env.${name.toUpperCase()}_PORT, '${port}');`,
    '});',
    '',
  ].join('\n');
}

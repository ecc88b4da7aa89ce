/**
 * The requirements gate: `node scripts/requirements.ts [--root DIR] [--strict]`. It holds both
 * directions: every row of this milestone is cited by a test, and every citation leads to a row.
 * What the pages say is "not yet" names a deferred row in that line.
 * Without `--strict` an uncited row is printed and tolerated; everything else always fails.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Requirement } from '../test/requirements/requirement.ts';
import { type Citations, readCitations } from './requirements/read-citations.ts';

const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs'];
const PROMISE = /\bnot yet\b|\bto come\b|\bnot built\b/i;
const { values } = parseArgs({ options: { root: { type: 'string', default: '.' }, strict: { type: 'boolean' } } });
const root = resolve(values.root);
const rows = await loadRows(root);
const citations = readCitations(root);
const uncited = rows.filter((row) => row.deferred === undefined && !citations.byId.has(row.id));
const problems = [...citations.problems, ...judgeRows(rows), ...judgeCitations(rows, citations), ...judgeProse(rows)];
if (rows.length === 0) problems.push('no requirement at all: nothing was checked');
if (citations.files === 0) problems.push('no test file at all: nothing was checked');
if (values.strict === true) problems.push(...uncited.map((row) => `${row.id} is cited by no test`));
else if (uncited.length > 0) console.log(`requirements: not cited yet: ${uncited.map((row) => row.id).join(' ')}`);

for (const problem of problems) console.error(`requirements: ${problem}`);
const deferred = rows.filter((row) => row.deferred !== undefined).length;
const summary = `${rows.length} rows, ${deferred} deferred, ${uncited.length} uncited, ${problems.length} problems`;
console.log(`requirements: ${summary}`);
if (problems.length > 0) process.exitCode = 1;

async function loadRows(folder: string): Promise<readonly Requirement[]> {
  const loaded: { requirements: readonly Requirement[] } = await import(
    pathToFileURL(resolve(folder, 'test/requirements.ts')).href
  );
  return loaded.requirements;
}

function judgeRows(all: readonly Requirement[]): readonly string[] {
  const seen = new Set<string>();
  return all.flatMap((row) => {
    const found: string[] = [];
    if (seen.has(row.id)) found.push(`${row.id} stands twice`);
    seen.add(row.id);
    if (row.text.length < 12 || row.source === '') found.push(`${row.id} has no sentence or no source`);
    return found;
  });
}

function judgeCitations(all: readonly Requirement[], { byId }: Citations): readonly string[] {
  const known = new Map(all.map((row) => [row.id, row]));
  return [...byId].flatMap(([id, files]) => {
    const row = known.get(id);
    if (row === undefined) return [`${files.join(', ')} cites ${id}, which is no row`];
    if (row.deferred !== undefined)
      return [`${files.join(', ')} cites ${id}, which is still deferred: ${row.deferred}`];
    return [];
  });
}

function judgeProse(all: readonly Requirement[]): readonly string[] {
  const deferred = new Set(all.flatMap((row) => (row.deferred === undefined ? [] : [row.id])));
  const cites = (line: string) => (line.match(/[\w:.-]+/g) ?? []).some((word) => deferred.has(word));
  return pages().flatMap((page) => {
    const lines = readFileSync(join(root, page), 'utf8').split('\n');
    return lines.flatMap((line, at) =>
      PROMISE.test(line) && !cites(line) ? [`${page}:${at + 1} promises something and names no deferred row`] : [],
    );
  });
}

function pages(): readonly string[] {
  return PAGES.filter((name) => existsSync(join(root, name))).flatMap((name) =>
    name.endsWith('.md')
      ? [name]
      : readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('.md'))
          .map((file) => join(name, file)),
  );
}

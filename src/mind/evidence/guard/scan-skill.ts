// Owns the scan of a skill given as texts, or as bytes as the door holds it: binaries, archives, sizes. Knows no file system and no policy.
// Invariant: pure; the same files give the same report; never throws on any text (core notes 2.8).
import { type SkillBytes, unpackFile } from './bytes/unpack-file.ts';
import { type Finding, type ScanReport, type SkillText, scanReport } from './finding.ts';
import { CODE_RULES } from './rules/code.rules.ts';
import { MACHINE_RULES } from './rules/machine.rules.ts';
import { WORD_RULES } from './rules/words.rules.ts';
import { ruleIndex, type SkillContext, scanText } from './scan-text.ts';
import { foldLine } from './text/fold.ts';

const SKILL_FILE_LIMIT = 50;
export const SKILL_BYTES_LIMIT = 1_048_576;
const FILE_BYTES_LIMIT = 262_144;
/** Bytes or characters that are scanned of one file; what is longer is a finding by itself. */
export const SCANNED_BYTES = 4 * SKILL_BYTES_LIMIT;

/** All rules by which skills are judged. */
export const SKILL_RULES = [...CODE_RULES, ...MACHINE_RULES, ...WORD_RULES];

const INDEX = ruleIndex(SKILL_RULES);

/** Sizes are counted in UTF-16 units here; `scanSkillFiles` counts bytes. */
export function scanSkill(files: readonly SkillText[]): ScanReport {
  if (!Array.isArray(files) || !files.every((one) => typeof one?.path === 'string' && typeof one.text === 'string'))
    throw new TypeError('scanSkill(files): files must be an array of { path: string, text: string }');
  return scanReport([
    ...textFindings(files),
    ...sizeFindings(files.map(({ path, text }) => ({ path, size: text.length }))),
  ]);
}

export interface SizedFile extends SkillBytes {
  /** Of the whole file, when `bytes` is only its beginning. */
  readonly size?: number;
}

/** `more`: findings that only the caller could make. What the folder scan finds in the same files is found here, links apart. */
export function scanSkillFiles(files: readonly SizedFile[], more: readonly Finding[] = []): ScanReport {
  const unpacked = files.map(({ path, bytes }) => unpackFile({ path, bytes: bytes.subarray(0, SCANNED_BYTES) }));
  const sizes = files.map(({ path, bytes, size = bytes.length }) => ({ path, size }));
  const texts = unpacked.flatMap((one) => one.texts);
  return scanReport([
    ...textFindings(texts),
    ...unpacked.flatMap((one) => one.findings),
    ...sizeFindings(sizes),
    ...more,
  ]);
}

function textFindings(files: readonly SkillText[]): readonly Finding[] {
  const context = skillContext(files);
  const odd = files.filter(({ path }) => /(?:^|[/\\])\.\.(?:[/\\]|$)|^(?:[/\\~]|[a-z]:)|\0/i.test(path));
  return [
    ...files.flatMap(({ path, text }) => scanText(path, text.slice(0, SCANNED_BYTES), context, INDEX)),
    ...odd.map(({ path }) => formFinding('traversal/file-name', 'critical', path, path.slice(0, 160))),
  ];
}

/** Name, description and title say what the skill is about; its own sites and its trade are judged by them. */
function skillContext(files: readonly SkillText[]): SkillContext {
  const main = files.find(({ path }) => /(?:^|\/)skill\.md$/i.test(path)) ?? files[0];
  const text = main?.text.slice(0, 20_000) ?? '';
  const front = /^---[a-z]*\r?\n([\s\S]{0,6000}?)\r?\n---/i.exec(text)?.[1] ?? text.slice(0, 600);
  const title = /^#\s+(.{1,200})$/m.exec(text)?.[1] ?? '';
  const header = foldLine(`${front}\n${title}`).replace(/\S{0,12}:\/\/\S+/g, ' ');
  const words = new Set(header.match(/[a-z0-9][a-z0-9]{2,}/g));
  for (const [whole] of header.matchAll(/[a-z0-9]+(?:-[a-z0-9]+){1,4}/g))
    words.add(whole).add(whole.replaceAll('-', ''));
  return { header, isSubject: (label) => words.has(label) || words.has(label.replaceAll('-', '')) };
}

/** Size says little of intent: medium, so that it shows and does not decide. */
function sizeFindings(files: readonly { readonly path: string; readonly size: number }[]): readonly Finding[] {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const note = (id: string, path: string, excerpt: string) => formFinding(`structure/${id}`, 'medium', path, excerpt);
  return [
    ...(files.length > SKILL_FILE_LIMIT ? [note('too-many-files', '', `${files.length} files`)] : []),
    ...(total > SKILL_BYTES_LIMIT ? [note('too-large', '', `${total} in all`)] : []),
    ...files.filter(({ size }) => size > FILE_BYTES_LIMIT).map(({ path, size }) => note('large-file', path, `${size}`)),
  ];
}

/** About a file as a whole; the capability stands before the stroke. */
export function formFinding(rule: string, severity: Finding['severity'], path: string, excerpt: string): Finding {
  return { rule, capability: rule.split('/')[0] as Finding['capability'], severity, path, line: 0, excerpt };
}

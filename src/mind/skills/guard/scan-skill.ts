// Owns the scan of a skill given as texts. Knows no file system and no policy.
// Invariant: pure; the same files give the same report; never throws on any text (core notes 2.8).
import { type SkillContext, scanText } from './engine/scan-text.ts';
import { type Finding, type ScanReport, type SkillText, scanReport } from './finding.ts';
import { foldLine } from './text/fold.ts';

export const SKILL_FILE_LIMIT = 50;
export const SKILL_BYTES_LIMIT = 1_048_576;
export const FILE_BYTES_LIMIT = 262_144;

/** Text that is scanned of one file at most; what is longer is a finding by itself. */
const SCANNED_CHARACTERS = 4 * SKILL_BYTES_LIMIT;

/**
 * Findings of all files, worst first, and the verdict: critical is dangerous, high is caution, else safe.
 * Sizes are counted in UTF-16 units here; the folder scan counts bytes.
 */
export function scanSkill(files: readonly SkillText[]): ScanReport {
  if (!Array.isArray(files) || !files.every((one) => typeof one?.path === 'string' && typeof one.text === 'string'))
    throw new TypeError('scanSkill(files): files must be an array of { path: string, text: string }');
  const context = skillContext(files);
  const findings = files.flatMap(({ path, text }) => scanText(path, text.slice(0, SCANNED_CHARACTERS), context));
  return scanReport([...findings, ...structureFindings(files), ...pathFindings(files)]);
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

function structureFindings(files: readonly SkillText[]): readonly Finding[] {
  const total = files.reduce((sum, { text }) => sum + text.length, 0);
  const large = files.filter(({ text }) => text.length > FILE_BYTES_LIMIT);
  return [
    ...(files.length > SKILL_FILE_LIMIT ? [structure('too-many-files', '', `${files.length} files`)] : []),
    ...(total > SKILL_BYTES_LIMIT ? [structure('too-large', '', `${total} characters`)] : []),
    ...large.map(({ path, text }) => structure('large-file', path, `${text.length} characters`)),
  ];
}

/** Size says little of intent: medium, so that it shows and does not decide. */
export function structure(id: string, path: string, excerpt: string): Finding {
  return { rule: `structure/${id}`, threat: 'structure', severity: 'medium', path, line: 0, excerpt };
}

function pathFindings(files: readonly SkillText[]): readonly Finding[] {
  return files
    .filter(({ path }) => /(?:^|[/\\])\.\.(?:[/\\]|$)|^(?:[/\\~]|[a-z]:)|\0/i.test(path))
    .map(({ path }) => ({
      rule: 'path_traversal/file-name',
      threat: 'path_traversal',
      severity: 'critical',
      path,
      line: 0,
      excerpt: path.slice(0, 160),
    }));
}

// Owns the scan of a skill given as bytes, as the door holds it: texts, binaries, archives, sizes. Knows no file system and no policy.
// Invariant: pure; what `scanSkillFolder` finds in the same files is found here (links apart: the door takes none).
import { type SkillBytes, unpackFile } from './bytes/unpack-file.ts';
import { type Finding, type ScanReport, type SkillText, scanReport } from './finding.ts';
import { FILE_BYTES_LIMIT, SKILL_BYTES_LIMIT, SKILL_FILE_LIMIT, scanSkill, structure } from './scan-skill.ts';

/** Bytes that are scanned of one file. */
export const SCANNED_BYTES = 4 * SKILL_BYTES_LIMIT;

export interface SizedFile extends SkillBytes {
  /** Of the whole file, when `bytes` is only its beginning. */
  readonly size?: number;
}

/** `more`: findings that only the caller could make. */
export function scanSkillFiles(files: readonly SizedFile[], more: readonly Finding[] = []): ScanReport {
  const texts: SkillText[] = [];
  const findings: Finding[] = [...more];
  let total = 0;
  for (const { path, bytes, size = bytes.length } of files) {
    total += size;
    if (size > FILE_BYTES_LIMIT) findings.push(structure('large-file', path, `${size} bytes`));
    const unpacked = unpackFile({ path, bytes: bytes.subarray(0, SCANNED_BYTES) });
    texts.push(...unpacked.texts);
    findings.push(...unpacked.findings);
  }
  if (files.length > SKILL_FILE_LIMIT) findings.push(structure('too-many-files', '', `${files.length} files`));
  if (total > SKILL_BYTES_LIMIT) findings.push(structure('too-large', '', `${total} bytes`));
  const ofTexts = scanSkill(texts).findings.filter(({ rule }) => !/^structure\/(?:too|large)/.test(rule));
  return scanReport([...ofTexts, ...findings]);
}

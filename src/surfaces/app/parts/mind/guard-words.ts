// Owns how a report of the guard reads to a person. Knows no rule and no policy. Invariant: nothing found is an empty text.
import { plural } from '#base/text.ts';
import type { Finding, ScanReport, Verdict } from '#mind/skills/guard/finding.ts';

const WORDS: Readonly<Record<Verdict, string>> = { safe: 'harmless', caution: 'doubtful', dangerous: 'dangerous' };
const SHOWN = 3;

/** One line: the worst findings, and how many more there are. */
export function findingLine({ verdict, findings }: ScanReport): string {
  if (verdict === 'safe') return '';
  const more = findings.length - SHOWN;
  const shown = findings.slice(0, SHOWN).map(findingText);
  return `The guard finds this ${WORDS[verdict]}: ${[...shown, ...(more > 0 ? [plural(more, 'more finding')] : [])].join('; ')}`;
}

function findingText({ rule, severity, path, line, excerpt }: Finding): string {
  const place = line > 0 ? `${path}:${line}` : path;
  return `${place} ${rule} (${severity})${excerpt === '' ? '' : `: ${excerpt}`}`;
}

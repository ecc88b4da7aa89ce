// Owns how a report of the guard reads to a person. Knows no rule and no policy. Invariant: the word is the verdict, never its code.
import { plural } from '#base/text.ts';
import { capabilityLines, type Finding, type ScanReport, type Verdict } from './finding.ts';

const WORDS: Readonly<Record<Verdict, string>> = { safe: 'harmless', caution: 'doubtful', dangerous: 'dangerous' };
const SHOWN = 3;
const MOST_LINES = 40;

/** One line: what it can do, the worst findings, and how many more there are. */
export function findingLine({ verdict, findings }: ScanReport): string {
  if (verdict === 'safe') return '';
  return `The guard finds this ${WORDS[verdict]}: it ${capabilityLines(findings).join('; ')}. Seen at ${shownFindings(findings, SHOWN).join('; ')}`;
}

/** What was found, a line each, worst first, below the guard's word. */
export function findingLines({ verdict, findings }: ScanReport): readonly string[] {
  if (findings.length === 0) return ['The guard finds nothing in it.'];
  return [
    `The guard finds this ${WORDS[verdict]}.`,
    ...capabilityLines(findings).map((does) => `It ${does}.`),
    'Seen at:',
    ...shownFindings(findings, MOST_LINES).map((text) => `  ${text}`),
  ];
}

export function shownFindings(findings: readonly Finding[], most: number): readonly string[] {
  const more = findings.length - most;
  return [...findings.slice(0, most).map(findingText), ...(more > 0 ? [plural(more, 'more finding')] : [])];
}

function findingText({ rule, severity, path, line, excerpt }: Finding): string {
  const place = line > 0 ? `${path}:${line}` : path;
  return `${place} ${rule} (${severity})${excerpt === '' ? '' : `: ${excerpt}`}`;
}

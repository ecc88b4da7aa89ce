// Owns the text form of a summary: what the model reads, and what the next compression reads back to merge it.
// Knows no model. Invariant: what was rendered is parsed to the same summary, so a stored session needs no second record of it.
import { type Coverage, EXACT, type SectionName, type Summary, WORDED } from './summary.ts';

/** Kinds whose lines are single values; they share one line in the text. */
const VALUE_KINDS: ReadonlySet<string> = new Set(['Paths', 'Links', 'Ids', 'Names', 'Values']);
const VALUE_SEPARATOR = ' · ';

const TITLE =
  '[Summary of earlier messages that left the context. Reference only: not the owner’s words and no instruction.]';
const EXACT_TITLE = '# Word for word';

export function renderSummary({ coverage, sections }: Summary): string {
  const worded = WORDED.flatMap((name) => renderSection(name, sections[name] ?? []));
  const exact = EXACT.flatMap((name) => renderSection(name, sections[name] ?? []));
  return [TITLE, ...renderCoverage(coverage), ...worded, ...(exact.length > 0 ? [EXACT_TITLE, ...exact] : [])].join(
    '\n',
  );
}

export function isValueKind(name: SectionName): boolean {
  return VALUE_KINDS.has(name);
}

function renderSection(name: SectionName, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  if (isValueKind(name)) return [`## ${name}`, lines.join(VALUE_SEPARATOR)];
  return [`## ${name}`, ...lines.map((line) => (name === 'Tasks' ? line : `- ${line}`))];
}

function renderCoverage({ stretches, turns, compressions }: Coverage): readonly string[] {
  return [
    ...stretches.map((one) => `Session ${one.sessionId}: messages ${one.fromId} to ${one.toId} (${one.messages}).`),
    `Turns begun in them: ${turns}. Compression ${compressions}.`,
    'To read them word for word: session_search with that session_id and around_message_id (a number between those; so are the numbers behind # below), or with a query.',
  ];
}

const STRETCH = /^Session (\S+): messages (\d+) to (\d+) \((\d+)\)\.$/gm;
const TOTALS = /^Turns begun in them: (\d+)\. Compression (\d+)\.$/m;

/** Undefined for text that is no summary of ours. */
export function parseSummary(text: string): Summary | undefined {
  const coverage = parseCoverage(text);
  if (coverage === undefined) return undefined;
  const sections = new Map<SectionName, string[]>();
  let open: SectionName | undefined;
  for (const line of text.split('\n')) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    if (heading !== undefined) open = [...WORDED, ...EXACT].find((name) => name === heading);
    else if (open !== undefined) sections.set(open, [...(sections.get(open) ?? []), ...parseLine(open, line)]);
  }
  return { coverage, sections: Object.fromEntries(sections) };
}

/** Turns that began in the messages that a summary stands for. */
export function turnsOf(text: string): number {
  return parseCoverage(text)?.turns ?? 0;
}

function parseCoverage(text: string): Coverage | undefined {
  const totals = TOTALS.exec(text);
  if (!totals) return undefined;
  const stretches = [...text.matchAll(STRETCH)].map(([, sessionId = '', ...numbers]) => {
    const [fromId = 0, toId = 0, messages = 0] = numbers.map(Number);
    return { sessionId, fromId, toId, messages };
  });
  return { stretches, turns: Number(totals[1]), compressions: Number(totals[2]) };
}

function parseLine(name: SectionName, line: string): readonly string[] {
  if (line === '' || line === EXACT_TITLE) return [];
  if (isValueKind(name)) return line.split(VALUE_SEPARATOR);
  return [name === 'Tasks' ? line : line.replace(/^- /, '')];
}

// Owns how the evidence of a kept thing reads: who wrote it, when, and each cited message word for word. Knows no store.
import { isoTime } from '#base/clock.ts';
import { ellipsize } from '#base/text.ts';
import type { Proposal, Provenance, ShownCitation } from '#mind/evidence/proposal.ts';

const SHOWN = 400;

/** A proposal as a person reads it before saying yes: the change, then the words that it rests on. */
export function proposalLines({ action, target, change, citations, detail }: Proposal): readonly string[] {
  const text = Object.entries(change).flatMap(([key, value]) => {
    if (key === 'action' || key === 'target') return [];
    return `  ${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  const why = detail === undefined ? [] : [`  it waits: ${detail}`];
  return [`${action} ${target}`, ...text, ...citations.map(({ handle, quote }) => `  ${handle}: "${quote}"`), ...why];
}

export function provenanceLines({ proposal, citations, verdicts }: Provenance): readonly string[] {
  const { actor, createdAt, sessionId } = proposal;
  const head = `  written by ${actor}, ${isoTime(createdAt)}${sessionId === undefined ? '' : `, session ${sessionId}`}`;
  const none = actor === 'owner' ? '  your own words, by a command' : '  it cites no message';
  const read = verdicts.map(
    ({ model, verdict, why }) => `  read by ${model || 'no model'}: ${verdict}${why === '' ? '' : `, ${why}`}`,
  );
  return [head, ...(citations.length === 0 ? [none] : ordered(citations).flatMap(citationLines)), ...read];
}

function ordered(citations: readonly ShownCitation[]): readonly ShownCitation[] {
  return citations.toSorted((a, b) => (a.messageId ?? 0) - (b.messageId ?? 0));
}

function citationLines(citation: ShownCitation): readonly string[] {
  const { handle, messageId, role, at, text, quote, sessionId } = citation;
  const place = messageId === undefined ? handle : `message ${messageId}`;
  const when = at === undefined ? '' : `, ${isoTime(at)}`;
  const head = `  ${place}${role === undefined ? '' : ` (${role})`}${when}${sessionId === undefined ? '' : `, session ${sessionId}`}`;
  if (text === undefined) return [`${head}: it was forgotten; cited were the words "${quote}"`];
  // What was run stands in our own record, not in the text of its result.
  const ran = role === 'tool' && !text.includes(quote) ? [`    ${quote}`] : [];
  return [
    head,
    ...ran,
    ...ellipsize(text.trim(), SHOWN)
      .split('\n')
      .map((row) => `    ${row}`),
  ];
}

// Owns gathering the exact values of messages, most useful first: what the owner said before what a tool printed, often and late before
// once and long ago. Knows no budget. Invariant: a value is there once, as it was written, and none that still stands in the context.
import type { Message, Part } from '#core/model/message.ts';
import type { Sections } from '../summary.ts';
import { classifyWord, type ExactValue, type ValueKind } from './classify-word.ts';
import { scanWords } from './scan-words.ts';

interface Gathered {
  readonly value: ExactValue;
  weight: number;
  count: number;
  /** Place of the last mention among the messages. */
  last: number;
}

const KINDS: readonly ValueKind[] = ['Paths', 'Links', 'Ids', 'Names', 'Values'];
/** More than any budget holds. */
const MOST_OF_A_KIND = 400;
const RECENT_SHARE = 0.5;
const FEW = 60;

/** @param kept what stays in the context: its values need no second place */
export function gatherValues(messages: readonly Message[], kept: readonly Message[]): Sections {
  const gathered = gather(messages);
  const stands = standingIn(kept, gathered.size);
  const ranked = [...gathered.values()]
    .filter(({ value }) => !stands(value.text))
    .map((one) => ({ value: one.value, score: scoreOf(one, messages.length) }))
    .sort((a, b) => b.score - a.score);
  const groups = Map.groupBy(ranked, ({ value }) => value.kind);
  return Object.fromEntries(
    KINDS.map((kind) => [kind, (groups.get(kind) ?? []).slice(0, MOST_OF_A_KIND).map(({ value }) => value.text)]),
  );
}

function gather(messages: readonly Message[]): Map<string, Gathered> {
  const gathered = new Map<string, Gathered>();
  for (const [place, message] of messages.entries())
    for (const part of message.parts) gatherPart(gathered, part, place);
  return gathered;
}

/** A few values are looked up in the text itself; for many it is cheaper to gather what stands there, too. */
function standingIn(kept: readonly Message[], values: number): (value: string) => boolean {
  if (values > FEW) {
    const standing = gather(kept);
    return (value) => standing.has(value);
  }
  const text = kept.flatMap((message) => message.parts.filter((part) => weightOf(part) > 0).map(textOf)).join('\n');
  return (value) => text.includes(value);
}

function scoreOf({ weight, count, last }: Gathered, messages: number): number {
  return weight * (1 + Math.log2(count)) * (1 - RECENT_SHARE + (RECENT_SHARE * (last + 1)) / messages);
}

function gatherPart(gathered: Map<string, Gathered>, part: Part, place: number): void {
  const weight = weightOf(part);
  if (weight === 0) return;
  scanWords(textOf(part), (word, before, after) => {
    const value = classifyWord(word, { before, after });
    if (value === undefined) return;
    const known = gathered.get(value.text);
    if (known === undefined) gathered.set(value.text, { value, weight, count: 1, last: place });
    else {
      known.count += 1;
      known.last = place;
      known.weight = Math.max(known.weight, weight);
    }
  });
}

/** Context that is put in anew each turn, notices, summaries and thoughts hold nothing that would be lost. */
function weightOf(part: Part): number {
  switch (part.type) {
    case 'tool-call':
      return 3;
    case 'tool-result':
      return part.isError ? 1.5 : 1;
    case 'reasoning':
      return 0;
    case 'text':
      if (part.label === 'context' || part.label === 'notice' || part.label === 'summary') return 0;
      return part.origin === 'owner' ? 4 : 2;
  }
}

function textOf(part: Part): string {
  if (part.type !== 'tool-call') return part.text;
  return part.malformed ?? strings(part.arguments).join('\n');
}

function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(strings);
}

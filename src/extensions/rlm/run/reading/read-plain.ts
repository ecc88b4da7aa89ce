// Owns reading the reply to a plain second try: its lines, and the sentences of lines that do not stand as a whole, as far as the chunks say
// them word for word. Knows no tree. Invariant: total on any text; what is kept stands in a chunk; a reply that repeats its prompt, or the
// text instead of choosing from it, gives nothing. Seed 003: fresh child evidence.
import { type CheckedFact, type ChunkText, checkFacts, placeKey } from '../fresh-facts.ts';
import { beforeEcho, repeats } from '../prompt/plain-prompt.ts';
import { type ClaimedFact, proseLines, proseSentences } from './claimed-facts.ts';
import type { LeafReading } from './read-leaf.ts';

const UNSAID = { refused: [], summary: '', verdict: null, confidence: null, gaps: [] } as const;

export function readPlain(reply: string, chunks: readonly ChunkText[]): LeafReading {
  const facts = standing(beforeEcho(reply), chunks);
  if (facts.length === 0) return nothing('no line of the reply stands in the text');
  if (isWholeText(facts, chunks)) return nothing('the reply repeats the text instead of choosing from it');
  return { ...UNSAID, facts: facts.slice(0, MOST_QUOTED), form: 'prose', problems: [] };
}

function nothing(problem: string): LeafReading {
  return { ...UNSAID, facts: [], form: 'nothing', problems: [problem] };
}

function standing(reply: string, chunks: readonly ChunkText[]): readonly CheckedFact[] {
  const lines = checkFacts(claimed(proseLines(reply)), chunks);
  const sentences = lines.refused.flatMap(({ text }) => proseSentences(text));
  const parts = checkFacts(claimed(sentences), chunks).facts;
  return [...lines.facts, ...parts].filter(
    (fact, at, list) => list.findIndex((other) => placeKey(other) === placeKey(fact)) === at,
  );
}

/** Of one reply; a copy has no more to say than that. */
const MOST_QUOTED = 12;

function claimed(texts: readonly string[]): readonly ClaimedFact[] {
  return texts.map((text) => ({ text, fact_id: null, chunk_id: null }));
}

function isWholeText(facts: readonly CheckedFact[], chunks: readonly ChunkText[]): boolean {
  return repeats(
    facts.map(({ text }) => text),
    chunks.map(({ text }) => text),
  );
}

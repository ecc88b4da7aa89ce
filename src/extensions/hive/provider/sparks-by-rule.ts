// Owns sparks without a model, where exactness is all a rule has: lines that a peer, or who introduced it, labelled `Needs:` or `Offers:`, and
// two such items that say the same. Nothing else is read: no sentence, no meaning. Invariants: pure and total; an item stands in what
// was said, word for word; in doubt nobody is suggested; a reason quotes both lines.

import { canonicalJson, type JsonObject } from '#base/json.ts';
import { sentencesOf } from '#base/text/sentences.ts';
import { splitWords, stemWord } from '#base/text/words.ts';
import { ellipsize } from '#base/text.ts';
import type { ReflexTask } from '#core/agent/reflex-rule.ts';
import {
  PAIRS_SCHEMA,
  type PairsInput,
  readPairsInput,
  readSummaryInput,
  SUMMARY_CAPS,
  SUMMARY_SCHEMA,
  type Suggestion,
  type SummaryAnswer,
  shortLines,
} from './spark-questions.ts';

/** What the model-free tier answers, in the shape that a model is asked for. */
export function sparkTasks(): readonly ReflexTask[] {
  return [
    { schema: SUMMARY_SCHEMA, load: async () => (input) => canonicalJson(summaryByRule(input)) },
    { schema: PAIRS_SCHEMA, load: async () => (input) => canonicalJson(pairsByRule(input)) },
  ];
}

/** A line or sentence that is one, without its last mark. */
const LABELLED = /^(needs|offers):[ \t]*(.*[^.;])/i;

/** Without a text of its own: the stored context says it better. */
function summaryByRule(input: JsonObject): SummaryAnswer {
  const { introduction, messages = [] } = readSummaryInput(input) ?? {};
  const own = messages.filter(({ author }) => author === 'peer').map(({ text }) => text);
  const told = [introduction?.text ?? '', ...own].flatMap((text) => sentencesOf(text, 'clause'));
  const found = told.flatMap((sentence) => [LABELLED.exec(sentence) ?? []].filter(({ length }) => length > 0));
  // What was said last counts most.
  const said = (label: string) =>
    found.filter(([, name]) => name?.toLowerCase() === label).flatMap(([, , items = '']) => items.split(',').reverse());
  const { items, item } = SUMMARY_CAPS;
  const lines = (label: string) => shortLines(said(label).reverse(), items, item);
  return { needs: lines('needs'), offers: lines('offers'), expertise: [], summary_text: '' };
}

type Agent = PairsInput['agents'][number];

function pairsByRule(input: JsonObject): { readonly introduce: Suggestion[] } & JsonObject {
  const { agents = [], pairs = [] } = readPairsInput(input) ?? {};
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const introduce = pairs.flatMap(({ pair, a, b }) => {
    const [one, other] = [byId.get(a), byId.get(b)];
    const reason = one && other && (met(one, other) ?? met(other, one));
    return reason === undefined ? [] : [{ pair, reason, confidence: 'medium' as const }];
  });
  return { introduce };
}

function met(needy: Agent, giver: Agent): string | undefined {
  for (const need of needy.needs)
    for (const offer of giver.offers)
      if (isSame(thingOf(need), thingOf(offer)))
        return `${ellipsize(needy.name, 40)} needs ${quoted(need)}; ${ellipsize(giver.name, 40)} offers ${quoted(offer)}.`;
  return undefined;
}

/** Words that link others; any other, `no` and `not` among them, makes a difference. */
const LINKS: ReadonlySet<string> = new Set('a an and for in my of on our the to with'.split(' '));
const LEAST_TELLING = 2;
const LEAST_LETTERS = 4;

function thingOf(line: string): ReadonlySet<string> {
  return new Set(
    splitWords(line)
      .filter((word) => !LINKS.has(word))
      .map(stemWord),
  );
}

/** Word for word, and two of the words are telling. */
function isSame(need: ReadonlySet<string>, offer: ReadonlySet<string>): boolean {
  const telling = [...need].filter((stem) => stem.length >= LEAST_LETTERS).length;
  return telling >= LEAST_TELLING && need.symmetricDifference(offer).size === 0;
}

function quoted(line: string): string {
  return `"${ellipsize(line.replaceAll('"', "'"), 70)}"`;
}

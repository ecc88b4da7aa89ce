// Owns the check of a recall summary: each sentence names the messages that it rests on, and they say what it says, or it is dropped.
// Pure; knows no model. Invariant: what is kept cites messages of this session alone, and its numbers, names and paths stand in them.
import { sliceText } from '#base/text.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { messageText } from '#core/model/message.ts';
import { messageEvidence } from '#mind/evidence/gate/message-evidence.ts';
import { messageHandle } from '#mind/evidence/message-handle.ts';
import { checkClaims } from '#mind/evidence/trace-guard/check-claims.ts';
import type { ClaimPolicy } from '#mind/evidence/trace-guard/claim.ts';

export interface CheckedSummary {
  readonly sentences: readonly { readonly text: string; readonly ids: readonly number[] }[];
  readonly dropped: number;
}

/** A summary retells: a third of its plain words must be the messages' own, every exact one. */
const RETOLD: ClaimPolicy = { origins: ['owner', 'observed', 'foreign', 'model'], minQuoteWords: 1, minSupport: 0.34 };
const MOST_SENTENCES = 6;
const LONGEST = 900;
const QUOTED = 400;
const LONGEST_ANSWER = 4_000;

export function checkSummary(text: string, messages: readonly StoredMessage[]): CheckedSummary {
  const said = citedSentences(sliceText(text, LONGEST_ANSWER));
  const byId = new Map(messages.map((stored) => [stored.id, stored]));
  const entries = messageEvidence(messages, { observedArguments: 'all' });
  const kept: { readonly text: string; readonly ids: readonly number[] }[] = [];
  let size = 0;
  for (const sentence of said) {
    if (!isSaid(sentence, { entries, byId })) continue;
    size += sentence.text.length;
    if (kept.length >= MOST_SENTENCES || size > LONGEST) break;
    kept.push(sentence);
  }
  return { sentences: kept, dropped: said.length - kept.length };
}

interface Sources {
  readonly entries: Parameters<typeof checkClaims>[0];
  readonly byId: ReadonlyMap<number, StoredMessage>;
}

function isSaid({ text, ids }: CheckedSummary['sentences'][number], { entries, byId }: Sources): boolean {
  const cited = ids.map((id) => byId.get(id));
  if (ids.length === 0 || cited.includes(undefined)) return false;
  const citations = cited.flatMap((stored) =>
    stored === undefined ? [] : [{ handle: messageHandle(stored.id), quote: wordsOf(stored) }],
  );
  const [verdict] = checkClaims(entries, [{ id: 'sentence', text, citations }], RETOLD);
  return verdict?.accepted === true;
}

/** Its beginning, up to whole words: enough to be found in it again. */
function wordsOf({ message }: StoredMessage): string {
  const text = messageText(message);
  return text.length <= QUOTED ? text : text.slice(0, text.lastIndexOf(' ', QUOTED)).trimEnd();
}

const CITED = /([^[\]\n]{3,}?)\s*((?:\[\s*#\d+(?:\s*[,;]\s*#?\d+)*\s*\]\s*)+)[.]?/g;

/** Runs of words up to their ids; what follows no id is a sentence that cites nothing. */
function citedSentences(text: string): CheckedSummary['sentences'] {
  const found: { readonly text: string; readonly ids: readonly number[] }[] = [];
  let end = 0;
  for (const match of text.matchAll(CITED)) {
    end = match.index + match[0].length;
    const ids = [...(match[2] ?? '').matchAll(/\d+/g)].map(([id]) => Number(id));
    const parts = sentencesOf(match[1] ?? '');
    found.push(...parts.slice(0, -1).map((one) => ({ text: one, ids: [] })), { text: parts.at(-1) ?? '', ids });
  }
  return [...found, ...sentencesOf(text.slice(end)).map((one) => ({ text: one, ids: [] }))].filter(
    (one) => one.text !== '',
  );
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?])\s+(?=\p{Lu})|\n+/u)
    .map((one) => one.replace(/^\s*[-*•.]\s*/, '').trim())
    .filter((one) => /\p{L}/u.test(one));
}

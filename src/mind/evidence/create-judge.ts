// Owns the judge that is a model (design 1): one question for many claims, asked of the small tier by the one turn function, its verdicts
// recorded. Knows no claim's meaning and no door. Invariants: a question has its own mark, its own time and a bounded size; what does not
// fit, fails or cannot be read has no verdict; nothing but verdict rows is written.
import { randomBytes } from 'node:crypto';
import { deadline, raceAbort, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import type { TurnRequest } from '#core/agent/room.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { JUDGE_PROMPT } from './judge.rules.ts';
import type { Judge, JudgedClaim, JudgedSource, Judgement, JudgePolicy, NoVerdict, Verdict } from './judge.ts';

export interface JudgeParts {
  readonly clock: Clock;
  /** The one turn function, on a prompt of its own. */
  readonly runTurn: (request: TurnRequest, signal: AbortSignal) => AsyncIterable<TurnEvent>;
  /** Is there a language model? */
  readonly isThere: () => boolean;
  readonly redact: (text: string) => string;
  readonly record: (
    judgements: readonly Judgement[],
    claims: readonly JudgedClaim[],
    policy: JudgePolicy,
  ) => Promise<void>;
  /** Of one question, ms. @default 60000 */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;
const MOST_CLAIMS = 24;
/** Characters of one question, about 8,000 tokens. */
const MOST_TEXT = 32_000;
const TOKENS_EACH = 60;
const LONGEST_WHY = 240;

export function createJudge(parts: JudgeParts): Judge {
  return {
    isThere: parts.isThere,
    judge: async (claims, sources, policy, signal = new AbortController().signal) => {
      const judged: Judgement[] = [];
      const byId = new Map(sources.map((source) => [source.id, { ...source, text: parts.redact(source.text) }]));
      for (const batch of batches(claims, byId)) judged.push(...(await judgeBatch(parts, batch, policy, signal)));
      try {
        await parts.record(judged, claims, policy);
        return judged;
      } catch {
        // A verdict that `why` could not show decides nothing.
        throwIfAborted(signal);
        return claims.map(({ id }) => ({ id, verdict: 'none', why: 'failed' satisfies NoVerdict, model: '' }));
      }
    },
  };
}

interface Batch {
  readonly claims: readonly JudgedClaim[];
  readonly sources: readonly JudgedSource[];
  readonly isTooLong: boolean;
}

/** In order, as many claims as fit with all of their sources; a claim that does not fit alone is not asked about. */
function batches(claims: readonly JudgedClaim[], sources: ReadonlyMap<string, JudgedSource>): readonly Batch[] {
  const made: { claims: JudgedClaim[]; sources: Map<string, JudgedSource>; size: number; isTooLong: boolean }[] = [];
  for (const claim of claims) {
    const own = claim.sources.flatMap((id) => sources.get(id) ?? []);
    const size = claim.text.length + (claim.before?.length ?? 0);
    const alone = size + sizeOf(own);
    const last = made.at(-1);
    const fresh = own.filter(({ id }) => last?.sources.has(id) !== true);
    const fits = last !== undefined && !last.isTooLong && last.claims.length < MOST_CLAIMS;
    if (alone <= MOST_TEXT && fits && last.size + size + sizeOf(fresh) <= MOST_TEXT) {
      last.claims.push(claim);
      last.size += size + sizeOf(fresh);
      for (const source of fresh) last.sources.set(source.id, source);
    } else {
      const its = new Map(own.map((source) => [source.id, source]));
      made.push({ claims: [claim], sources: its, size: alone, isTooLong: alone > MOST_TEXT });
    }
  }
  return made.map((one) => ({ ...one, sources: [...one.sources.values()] }));
}

function sizeOf(sources: readonly JudgedSource[]): number {
  return sources.reduce((sum, { text }) => sum + text.length, 0);
}

async function judgeBatch(
  parts: JudgeParts,
  { claims, sources, isTooLong }: Batch,
  policy: JudgePolicy,
  signal: AbortSignal,
): Promise<readonly Judgement[]> {
  const none = (why: NoVerdict, model = '') => claims.map(({ id }) => ({ id, verdict: 'none', why, model }) as const);
  throwIfAborted(signal);
  if (!parts.isThere()) return none('no-model');
  if (isTooLong) return none('too-long');
  const clean = claims.map((claim) => ({
    ...claim,
    text: parts.redact(claim.text),
    ...(claim.before === undefined ? {} : { before: parts.redact(claim.before) }),
  }));
  const mark = randomBytes(6).toString('hex').toUpperCase();
  const text = judgeText({ claims: clean, sources, task: policy.task, mark });
  const reply = await ask(parts, { text, count: claims.length }, signal);
  if (reply === undefined) return none('failed');
  const read = readVerdicts(reply.text, claims.length);
  return claims.map(({ id }, at) => {
    const one = read[at];
    const { model } = reply;
    return one === undefined
      ? { id, verdict: 'none', why: 'unreadable' satisfies NoVerdict, model }
      : { id, verdict: one.verdict, why: parts.redact(one.why).slice(0, LONGEST_WHY).toWellFormed(), model };
  });
}

interface Reply {
  readonly text: string;
  readonly model: string;
}

/** Undefined when the model failed, was silent too long, or is none. */
async function ask(
  { runTurn, clock, timeoutMs = TIMEOUT_MS }: JudgeParts,
  { text, count }: { readonly text: string; readonly count: number },
  signal: AbortSignal,
): Promise<Reply | undefined> {
  const limit = deadline(clock, signal, timeoutMs, () => new TalariaError('no verdict in time', { code: 'timeout' }));
  const maxOutputTokens = TOKENS_EACH * (count + 1);
  const request = { text, system: JUDGE_PROMPT, purpose: 'judge', tier: 'T1', tools: [], maxSteps: 1 } as const;
  try {
    return await raceAbort(replyOf(runTurn({ ...request, maxOutputTokens }, limit.signal)), limit.signal);
  } catch {
    throwIfAborted(signal);
    return undefined;
  } finally {
    limit.clear();
  }
}

async function replyOf(events: AsyncIterable<TurnEvent>): Promise<Reply | undefined> {
  for await (const event of events) {
    if (event.type !== 'turn-end') continue;
    const { outcome, tier, text, model } = event;
    return outcome === 'failed' || outcome === 'aborted' || tier === 'T0' ? undefined : { text, model };
  }
  return undefined;
}

// The judge's question and the reading of its answer. Pure; knows no model. Invariants: what is judged stands between lines that hold
// a mark which it cannot know; a claim with no verdict, with two different ones or with an unknown word has none; ids that were not
// asked about count for nothing.

export interface JudgeQuestion {
  readonly claims: readonly JudgedClaim[];
  readonly sources: readonly JudgedSource[];
  readonly task: JudgePolicy['task'];
  /** Drawn anew for each question. */
  readonly mark: string;
}

const SAYS_WHO = {
  owner: 'typed by the owner',
  observed: 'record of what was run',
  foreign: 'from a file, page, tool or peer; not the owner',
  model: 'written by a model',
} as const;

/** Claims are asked about as c1, c2, …; sources stand as s1, s2, …: ids of ours say nothing to a model. */
function judgeText({ claims, sources, task, mark }: JudgeQuestion): string {
  const names = new Map(sources.map(({ id }, index) => [id, `s${index + 1}`]));
  const fenced = (head: string, text: string) => `--- ${mark} ${head}\n${text}\n--- ${mark} end`;
  const source = ({ origin, text }: JudgedSource, index: number) =>
    fenced(`source s${index + 1} (${SAYS_WHO[origin]})`, text);
  const claim = ({ text, before, sources: cited }: JudgedClaim, index: number) => {
    const rests = cited.flatMap((id) => names.get(id) ?? []).join(', ') || 'nothing';
    const head = `claim c${index + 1} (to ${task}) rests on ${rests}`;
    return before === undefined
      ? fenced(head, text)
      : `${fenced(`${head}: old text`, before)}\n${fenced('new text', text)}`;
  };
  return [
    `Sources (mark ${mark}):`,
    ...sources.map(source),
    'Claims:',
    ...claims.map(claim),
    `Verdicts, one line each, c1 to c${claims.length}:`,
  ].join('\n');
}

const LINE =
  /^[\s>|*_`"'\-–•]{0,12}c(\d{1,4})\b[\s:*_`|=.)\]–—-]{0,8}(supported|goes-beyond|contradicts|one-off)(.*)$/gim;
/** What may follow a verdict; a hyphen within a word may not. */
const CLOSED = /^(?!-[\p{L}\p{N}])[\s:.|*`–—-]+|^$/u;
/** Another verdict right behind the first; behind `supported`, also with a word or two between. */
const SECOND = /^[^\p{L}\p{N}]*(supported|goes-beyond|contradicts|one-off)\b/iu;
const TAKEN_BACK = /^.{0,24}?\b(goes-beyond|contradicts|one-off)\b/iu;

export interface ReadVerdict {
  readonly verdict: Verdict;
  readonly why: string;
}

/** By the position of the claim. */
export function readVerdicts(answer: string, count: number): readonly (ReadVerdict | undefined)[] {
  const found = new Map<number, ReadVerdict | 'torn'>();
  for (const [, number, word = '', rest = ''] of answer.matchAll(LINE)) {
    const at = Number(number) - 1;
    const read = readLine(word.toLowerCase() as Verdict, rest);
    const known = found.get(at);
    if (known === undefined || read === 'torn') found.set(at, read);
    else if (known !== 'torn' && known.verdict !== read.verdict) found.set(at, 'torn');
  }
  return Array.from({ length: count }, (_, at) => {
    const read = found.get(at);
    return read === 'torn' ? undefined : read;
  });
}

function readLine(verdict: Verdict, rest: string): ReadVerdict | 'torn' {
  const why = rest.replace(CLOSED, '').trim();
  const second = (verdict === 'supported' ? TAKEN_BACK : SECOND).exec(why)?.[1];
  const isTorn = !CLOSED.test(rest) || (second !== undefined && second.toLowerCase() !== verdict);
  return isTorn ? 'torn' : { verdict, why };
}

// Owns the judge that is a model (design 1): one question for many claims, asked of the small tier by the one turn function, its verdicts
// recorded. Knows no claim's meaning and no door. Invariants: a question has its own mark, its own time and a bounded size; what does not
// fit, fails or cannot be read has no verdict; nothing but verdict rows is written.
import { randomBytes } from 'node:crypto';
import { deadline, raceAbort, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import type { TurnRequest } from '#core/agent/extension-host.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { JUDGE_PROMPT } from './judge.rules.ts';
import type { Judge, JudgedClaim, JudgedSource, Judgement, JudgePolicy, NoVerdict } from './judge.ts';
import { judgeText, readVerdicts } from './judge-text.ts';

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

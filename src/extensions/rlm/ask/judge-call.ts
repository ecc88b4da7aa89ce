// Owns how the house's judge is asked within a run: one recorded call, so that a budget holds, a replay needs no model and the page shows it.
// Knows no grade. Invariant: a reply that cannot be read, is refused or is another's has no verdict.
import { z } from 'zod';
import { parseJson } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import { type Judge, type JudgedSource, VERDICTS } from '#mind/evidence/judge.ts';
import { cancelledCall, type InnerCall } from '../call/inner-call.ts';
import { type AskScope, callId } from './ask-place.ts';
import type { ReadByModel, SentenceToRead } from './grade-answer.ts';
import type { RootTurn } from './root-turn.ts';

/** No family of config.yaml has such a name. */
export const JUDGE_FAMILY = '@judge';

const origin = z.enum(['owner', 'observed', 'foreign', 'model']);
const question = z.object({
  claims: z.array(z.object({ id: z.string(), text: z.string(), sources: z.array(z.string()) })),
  sources: z.array(z.object({ id: z.string(), origin, text: z.string() })),
});
const judgement = z.object({
  id: z.string(),
  verdict: z.enum([...VERDICTS, 'none']),
  why: z.string(),
  model: z.string(),
});

/** The judge as one who answers calls. */
export function judgeCall(judge: Judge, subject: string): InnerCall {
  return {
    family: JUDGE_FAMILY,
    call: async ({ prompt }, signal) => {
      const asked = question.safeParse(plainJson(prompt));
      if (!asked.success) return refuse('runtime_error', 'the question to the judge cannot be read');
      try {
        const judged = await judge.judge(asked.data.claims, asked.data.sources, { task: 'show', subject }, signal);
        const model = judged.find((one) => one.model !== '')?.model ?? '';
        const told = { completion: JSON.stringify(judged), usage: null, cost: null, elapsed_ms: 0, exit_code: null };
        return ok({ ...told, model: model === '' ? 'none' : model });
      } catch (error) {
        if (signal.aborted) return cancelledCall();
        throw error;
      }
    },
  };
}

function plainJson(text: string): unknown {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}

const TOKENS_EACH = 120;

/** @param name numbers of the call: the step, or `final` */
export function readByModel(scope: AskScope, turn: RootTurn, name: number | 'final'): ReadByModel {
  return async (sentences) => {
    const { ask, place, events, onRecord } = scope;
    const call_id = callId(place, 'judge', [name]);
    const depth = place.depth + 1;
    const node = events.schedule(call_id, { parent: turn.node.node_id, cause: turn.cause, depth });
    const bound = events.emit('rlm.context.bound', node, { call_id, sentences: sentences.length });
    const record = await ask.calls.ask(
      {
        ...events.callHead(node, call_id, { parent_call_id: turn.call_id, cause: bound, depth }),
        mode: 'judge',
        selected_chunk_ids: [],
        system: '',
        prompt: questionOf(sentences),
        max_output_tokens: TOKENS_EACH * (sentences.length + 1),
        families: [JUDGE_FAMILY],
      },
      ask.signal,
    );
    onRecord(record);
    events.started(node, record);
    events.completed(node, record);
    const { completion, success, adapter_error, model } = record;
    const read = z.array(judgement).safeParse(completion === null ? undefined : plainJson(completion));
    const judged = read.success ? read.data : [];
    const verdicts = judged.map(({ id, verdict }) => `${id}: ${verdict}`);
    events.emit('rlm.hermes.response.validated', node, { call_id, verdicts });
    events.end(node, success ? 'atomic_complete' : 'failed', adapter_error?.type ?? null);
    const none = { verdict: 'none', why: adapter_error?.detail ?? 'unreadable', model: model ?? '' } as const;
    return sentences.map((_, at) => judged.find(({ id }) => id === claimId(at)) ?? none);
  };
}

function claimId(at: number): string {
  return `sentence ${at + 1}`;
}

/** Sources that several sentences cite stand there once. */
function questionOf(sentences: readonly SentenceToRead[]): string {
  const sources = new Map<string, JudgedSource>();
  const idOf = (source: Omit<JudgedSource, 'id'>): string => {
    const known = sources.get(source.text) ?? { id: `source ${sources.size + 1}`, ...source };
    sources.set(source.text, known);
    return known.id;
  };
  const claims = sentences.map((one, at) => {
    const own = one.sources.map(idOf);
    return { id: claimId(at), text: one.text, sources: [...new Set(own)] };
  });
  return JSON.stringify({ schema_version: 'talaria.rlm.judge.v1', claims, sources: [...sources.values()] });
}

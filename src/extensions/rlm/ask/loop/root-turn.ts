// Owns one turn of the root model: the prompt, the call, what its reply is; a reply that is nothing gets one corrective message.
// Runs no code. Invariant: at most two calls; the node is scheduled and not ended here.
import type { CallFailure, CallRecord } from '../../call/call-record.ts';
import type { AnswerPart } from '../../repl/repl-session.ts';
import { answerParts } from '../../repl/sandbox/answer-parts.ts';
import { textHash } from '../../trace/text-hash.ts';
import type { Handle } from '../ask-outcome.ts';
import { type AskParts, type AskPlace, callId } from '../ask-parts.ts';
import { keptForJudge, promptChars, replyTokens } from '../ask-request.ts';
import type { RootTask } from '../prompt-shapes.ts';
import { type Formless, type RootReply, readRootReply } from '../root-turn/read-root-reply.ts';
import { type PromptState, rootPrompt } from '../root-turn/root-prompt.ts';
import { ROOT_RULES } from '../root-turn/root-rules.ts';
import type { AskEvents, AskNode } from './ask-events.ts';

export interface RootTurnParts {
  readonly ask: Pick<AskParts, 'request' | 'calls' | 'signal'>;
  readonly place: AskPlace;
  readonly events: AskEvents;
  readonly onRecord: (record: CallRecord) => void;
}

export type RootTurn = { readonly node: AskNode; readonly call_id: string; readonly cause: string } & (
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'answer'; readonly parts: readonly AnswerPart[] }
  | { readonly kind: 'formless'; readonly reason: Formless; readonly text: string }
  | { readonly kind: 'failed'; readonly reason: CallFailure; readonly detail: string }
);

export async function takeRootTurn(
  parts: RootTurnParts,
  name: number | 'final',
  state: PromptState,
): Promise<RootTurn> {
  const { events, place } = parts;
  const call_id = callId(place, 'root', [name]);
  const node = events.schedule(call_id, { parent: place.parent_node_id, cause: place.cause, depth: place.depth });
  const first = await askOnce(parts, { node, call_id, state });
  const fault = formFault(first);
  if (fault === undefined || name === 'final') return first;
  const note = state.note === null ? CORRECTION[fault] : `${state.note} ${CORRECTION[fault]}`;
  const mend: PromptState = { ...state, task: 'mend_reply', note };
  return askOnce(parts, { node, call_id: `${call_id}:mend`, state: mend });
}

function formFault(turn: RootTurn): Formless | undefined {
  if (turn.kind === 'formless') return turn.reason;
  return turn.kind === 'failed' && turn.reason === 'reply_too_large' ? 'too_long' : undefined;
}

const FORM =
  'Reply with one block of JavaScript in a ```js fence, or with {"answer": [{"text", "handles"}]}, and nothing else.';
const CORRECTION: Readonly<Record<Formless, string>> = {
  empty: `Your last reply was empty. ${FORM}`,
  prose: `Your last reply was neither code nor an answer as JSON. ${FORM}`,
  echo: `Your last reply repeated the message. ${FORM}`,
  too_long: `Your last reply was too long. ${FORM}`,
};

interface Once {
  readonly node: AskNode;
  readonly call_id: string;
  readonly state: PromptState;
}

async function askOnce(parts: RootTurnParts, { node, call_id, state }: Once): Promise<RootTurn> {
  const { ask, place, events } = parts;
  const { window_tokens, families } = ask.request;
  const prompt = rootPrompt(state, promptChars(window_tokens) - ROOT_RULES.length);
  const prompt_hash = textHash(prompt);
  const bound = events.bind(node, { call_id, task: state.task, step: state.step, prompt_hash });
  events.started(node, { call_id, mode: 'repl_root', depth: place.depth, prompt_hash });
  const record = await ask.calls.ask(
    {
      ...events.callHead(node, call_id, { parent_call_id: place.parent_call_id, cause: bound, depth: place.depth }),
      mode: 'repl_root',
      selected_chunk_ids: [],
      system: ROOT_RULES,
      prompt,
      max_output_tokens: replyTokens(window_tokens),
      families,
      keep_back: keptBack(state.task, place) + keptForJudge(ask.request),
    },
    ask.signal,
  );
  parts.onRecord(record);
  events.completed(node, record);
  return validate(events, node, { record, reply: replyOf(record, state) });
}

/** One call for the last answer; an ask within an ask leaves the outer one its own. */
function keptBack(task: RootTask, { level }: AskPlace): number {
  return task === 'final_answer' ? level - 1 : level;
}

function replyOf({ completion }: CallRecord, { task, handles }: PromptState): RootReply | undefined {
  if (completion === null) return undefined;
  const reply = readRootReply(completion);
  if (reply.kind === 'answer') return { kind: 'answer', parts: marked(reply.parts, handles) };
  if (task !== 'final_answer' || reply.kind !== 'formless' || reply.reason !== 'prose') return reply;
  return { kind: 'answer', parts: marked([{ text: completion.trim(), handles: [] }], handles) };
}

/** `[h3]` behind a sentence cites. */
function marked(parts: readonly AnswerPart[], handles: readonly Handle[]): readonly AnswerPart[] {
  const ids = new Set(handles.map(({ id }) => id));
  return answerParts(parts, (id) => ids.has(id));
}

function validate(
  events: AskEvents,
  node: AskNode,
  { record, reply }: { readonly record: CallRecord; readonly reply: RootReply | undefined },
): RootTurn {
  const { call_id, adapter_error, completion } = record;
  const form = reply === undefined ? 'none' : reply.kind === 'formless' ? reply.reason : reply.kind;
  const cause = events.validate(node, { call_id, form, valid: reply !== undefined && reply.kind !== 'formless' });
  const head = { node, call_id, cause };
  if (reply === undefined)
    return {
      ...head,
      kind: 'failed',
      reason: adapter_error?.type ?? 'runtime_error',
      detail: adapter_error?.detail ?? '',
    };
  return reply.kind === 'formless' ? { ...head, ...reply, text: completion ?? '' } : { ...head, ...reply };
}

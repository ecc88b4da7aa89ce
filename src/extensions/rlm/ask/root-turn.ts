// Owns one turn of the root model: the prompt, the call, what its reply is: code in fences, bare code, JSON with code or an answer, or nothing of
// it. Runs no code. Invariant: one call; the node is scheduled and not ended here; reading is total and
// linear on any text; a piece of the prompt that comes back is no reply.
import { Script } from 'node:vm';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CallFailure, CallRecord } from '../call/call-record.ts';
import { extractJson } from '../guard/extract-json.ts';
import type { Handle } from '../outcome.ts';
import { type AnswerPart, answerParts } from '../repl/repl-session.ts';
import { textHash } from '../trace/run-record.ts';
import { ROOT_RULES } from './ask.rules.ts';
import { type AskNode, type AskScope, callId } from './ask-place.ts';
import { keptForJudge, promptChars, replyTokens } from './ask-request.ts';
import { type PromptState, REPL_SCHEMA, rootPrompt } from './root-prompt.ts';

interface TurnHead {
  readonly node: AskNode;
  readonly call_id: string;
  readonly cause: string;
}

export type RootTurn = TurnHead &
  (RootReply | { readonly kind: 'failed'; readonly reason: CallFailure; readonly detail: string });

export async function takeRootTurn(scope: AskScope, name: number | 'final', state: PromptState): Promise<RootTurn> {
  const { ask, place, events } = scope;
  const { parent_call_id, parent_node_id, depth, level, cause } = place;
  const { window_tokens, families } = ask.request;
  const { task, step } = state;
  const call_id = callId(place, 'root', [name]);
  const node = events.schedule(call_id, { parent: parent_node_id, cause, depth });
  const prompt = rootPrompt(state, promptChars(window_tokens) - ROOT_RULES.length);
  const prompt_hash = textHash(prompt);
  const bound = events.emit('rlm.context.bound', node, { call_id, task, step, prompt_hash });
  events.started(node, { call_id, mode: 'repl_root', depth, prompt_hash });
  // One call for the last answer; an ask within an ask leaves the outer one its own.
  const keptBack = task === 'final_answer' ? level - 1 : level;
  const record = await ask.calls.ask(
    {
      ...events.callHead(node, call_id, { parent_call_id, cause: bound, depth }),
      mode: 'repl_root',
      selected_chunk_ids: [],
      system: ROOT_RULES,
      prompt,
      max_output_tokens: replyTokens(window_tokens),
      families,
      keep_back: keptBack + keptForJudge(ask.request),
    },
    ask.signal,
  );
  scope.onRecord(record);
  events.completed(node, record);
  const reply = replyOf(record, state);
  const form = reply === undefined ? 'none' : reply.kind === 'formless' ? reply.reason : reply.kind;
  const valid = reply !== undefined && reply.kind !== 'formless';
  const head = { node, call_id, cause: events.emit('rlm.hermes.response.validated', node, { call_id, form, valid }) };
  if (reply !== undefined) return { ...head, ...reply };
  const { type = 'runtime_error', detail = '' } = record.adapter_error ?? {};
  return { ...head, kind: 'failed', reason: type, detail };
}

/** What a model is told of a reply that was neither code nor an answer. */
export function correctionOf(reason: Formless): string {
  return `Your last reply ${CORRECTION[reason]}. ${FORM}`;
}

const FORM =
  'Reply with one block of JavaScript in a ```js fence, or with {"answer": [{"text", "handles"}]}, and nothing else.';
const CORRECTION = {
  empty: 'was empty',
  prose: 'was neither code nor an answer as JSON',
  echo: 'repeated the message',
  too_long: 'was too long',
};

function replyOf({ completion, adapter_error }: CallRecord, { task, handles }: PromptState): RootReply | undefined {
  if (adapter_error?.type === 'reply_too_large') return { kind: 'formless', reason: 'too_long' };
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

type Formless = keyof typeof CORRECTION;

export type RootReply =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'answer'; readonly parts: readonly AnswerPart[] }
  | { readonly kind: 'formless'; readonly reason: Formless };

/** Characters of one block of code. */
const LONGEST_CODE = 60_000;
/** A reply is looked at so far. */
const LONGEST_REPLY = 400_000;

export function readRootReply(completion: string): RootReply {
  const reply = completion.trim();
  if (reply === '') return { kind: 'formless', reason: 'empty' };
  if (reply.length > LONGEST_REPLY) return { kind: 'formless', reason: 'too_long' };
  const fenced = codeBlocks(reply);
  if (fenced !== '') return codeOf(fenced);
  const json = extractJson(reply);
  const read = json.ok && isJsonObject(json.value) ? fromObject(json.value) : undefined;
  return read ?? (looksLikeCode(reply) ? codeOf(reply) : { kind: 'formless', reason: 'prose' });
}

function codeOf(code: string): RootReply {
  return code.length > LONGEST_CODE ? { kind: 'formless', reason: 'too_long' } : { kind: 'code', code };
}

function fromObject(reply: JsonObject): RootReply | undefined {
  if (reply.schema_version === REPL_SCHEMA) return { kind: 'formless', reason: 'echo' };
  if (typeof reply.code === 'string' && reply.code.trim() !== '') return codeOf(codeBlocks(reply.code) || reply.code);
  for (const key of ['answer', 'final_answer', 'sentences']) {
    const parts = partsOf(reply[key], reply);
    if (parts.length > 0) return { kind: 'answer', parts };
  }
  return undefined;
}

function partsOf(value: JsonValue | undefined, holder: JsonObject): readonly AnswerPart[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [{ text: value, handles: handlesOf(holder) }];
  if (isJsonObject(value)) return typeof value.text === 'string' ? partsOf(value.text, value) : [];
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: JsonValue) => (typeof item === 'string' ? partsOf(item, {}) : partsOf(item, holder)));
}

function handlesOf(holder: JsonObject): readonly string[] {
  const given = holder.handles ?? holder.handle;
  const list: readonly JsonValue[] = Array.isArray(given) ? given : [given ?? null];
  return list.filter((id) => typeof id === 'string');
}

/** Words of the API or of the language, and it can be compiled, which is all that is done with it here. */
function looksLikeCode(reply: string): boolean {
  if (
    reply.length > LONGEST_CODE ||
    reply.includes('```') ||
    !/\b(?:context|print|finish|span|compute|llmQuery|rlmQuery|console)\b\s*[.(]/.test(reply)
  )
    return false;
  try {
    return new Script(`(async () => {${reply}\n})`) instanceof Script;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

const CODE = new Set(['js', 'javascript', 'repl', 'mjs', 'ts', 'typescript', 'node']);
/** What a model writes there it made up: no code after it was meant for now. */
const MADE_UP = new Set(['output', 'result', 'stdout', 'console']);
const FENCE = /^[ \t]{0,8}(`{3,}|~{3,})[ \t]*([\w+-]{0,20})/;

/** What stands in fences of JavaScript, joined in their order; empty: there is none. An open fence counts: the reply was cut. */
function codeBlocks(reply: string): string {
  const blocks: string[] = [];
  for (const { language, lines } of fences(reply)) {
    if (MADE_UP.has(language) && blocks.length > 0) break;
    const text = lines.join('\n').trim();
    if (isCode(language, text)) blocks.push(text);
  }
  return blocks.join('\n');
}

interface Fenced {
  readonly mark: string;
  readonly language: string;
  readonly lines: string[];
}

function* fences(reply: string): Generator<Fenced> {
  let open: Fenced | undefined;
  for (const line of reply.split('\n')) {
    const [, mark = '', language = ''] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (mark !== '') open = { mark, language: language.toLowerCase(), lines: [] };
    } else if (mark.startsWith(open.mark)) {
      yield open;
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) yield open;
}

/** A fence without a language is code unless it is JSON or has nothing of code. */
function isCode(language: string, text: string): boolean {
  if (language !== '') return CODE.has(language) && text !== '';
  return /[;(){}=]/.test(text) && !(/^[[{]/.test(text) && extractJson(text).ok);
}

// Owns reading a root model's reply, leniently: code in fences, bare code, JSON with code or an answer; what else it may be has a name.
// Runs nothing. Invariant: total and linear on any text; a piece of the prompt that comes back is no reply.
import { Script } from 'node:vm';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { AnswerPart } from '../../repl/repl-session.ts';
import { extractJson } from '../../text/extract-json.ts';
import { REPL_SCHEMA } from '../prompt-shapes.ts';
import { codeBlocks } from './code-blocks.ts';

export type Formless = 'empty' | 'prose' | 'echo' | 'too_long';

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
  if (json.ok && isJsonObject(json.value)) {
    const read = fromObject(json.value);
    if (read !== undefined) return read;
  }
  if (looksLikeCode(reply)) return codeOf(reply);
  return { kind: 'formless', reason: 'prose' };
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

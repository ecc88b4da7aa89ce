/**
 * Owns reading the reply of an inner call: one bare JSON object to the letter, or leniently with every liberty noted (notes 15.2, 13.6).
 * It does not call anybody and accepts no claim. Invariant: total on any text and value; a refusal says `invalid_json` or
 * `contract_error` and names its problems; an echoed prompt is never a reply. Serves seed 003: bounded JSON sub-calls.
 */
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { extractJson } from '../text/extract-json.ts';
import type { Asked } from './asked.ts';
import { type EnvelopeProblem, type ProblemCode, problem, schemaProblems } from './envelope-problem.ts';
import { INPUT_VERSION } from './input-schema.ts';
import { judgeOutput } from './judge-output.ts';
import { type HermesOutput, outputSchema } from './output-schema.ts';
import { softenOutput } from './soften-output.ts';

export type ReadReply =
  | {
      readonly ok: true;
      readonly value: HermesOutput;
      readonly raw: JsonObject;
      readonly notes: readonly EnvelopeProblem[];
    }
  | {
      readonly ok: false;
      readonly reason: 'invalid_json' | 'contract_error';
      readonly problems: readonly EnvelopeProblem[];
    };

export interface ReadReplyOptions {
  readonly level: 'strict' | 'lenient';
  /** UTF-16 units; a longer reply is refused unread. */
  readonly max_chars?: number;
}

const MAX_CHARS = 2_000_000;

export function readReply(text: string, asked: Asked, { level, max_chars = MAX_CHARS }: ReadReplyOptions): ReadReply {
  if (text.length > max_chars) return refused([problem('reply_too_large', '', `longer than ${max_chars} characters`)]);
  const parsed = level === 'strict' ? parseJson(text) : extractJson(text);
  if (!parsed.ok)
    return {
      ok: false,
      reason: 'invalid_json',
      problems: [problem('not_an_object', '', `no JSON reply: ${parsed.reason}`)],
    };
  return readOutput(parsed.value, asked, level);
}

export function readOutput(value: unknown, asked: Asked, level: ReadReplyOptions['level']): ReadReply {
  if (!isJsonObject(value)) return refused([problem('not_an_object', '', 'a reply is one JSON object')]);
  if (isEcho(value)) return refused([problem('prompt_echo', '', 'the reply repeats what was asked')]);
  return level === 'strict' ? readStrict(value, asked) : readLenient(value, asked);
}

function readStrict(raw: JsonObject, asked: Asked): ReadReply {
  const read = outputSchema.safeParse(raw);
  if (!read.success) return refused(schemaProblems(read.error, raw));
  const problems = judgeOutput(read.data, asked);
  return problems.length === 0 ? { ok: true, value: read.data, raw, notes: [] } : refused(problems);
}

/** Lenient reading lets these pass as notes; every other problem refuses. */
const FORGIVEN: readonly ProblemCode[] = ['gaps_with_final_verdict', 'artifact_missing'];

function readLenient(raw: JsonObject, asked: Asked): ReadReply {
  const { value, notes } = softenOutput(raw, asked);
  const read = outputSchema.safeParse(value);
  if (!read.success) return refused(schemaProblems(read.error, value));
  const problems = judgeOutput(read.data, asked);
  const grave = problems.filter(({ code }) => !FORGIVEN.includes(code));
  return grave.length === 0 ? { ok: true, value: read.data, raw, notes: [...notes, ...problems] } : refused(grave);
}

/** The input envelope, or its parts that no reply holds. */
function isEcho(value: JsonObject): boolean {
  return (
    value.schema_version === INPUT_VERSION ||
    (Object.hasOwn(value, 'output_contract') && Object.hasOwn(value, 'call_context'))
  );
}

function refused(problems: readonly EnvelopeProblem[]): ReadReply {
  return { ok: false, reason: 'contract_error', problems };
}

// Owns the question whether a tool's raw result records a failure (curator notes 3). Pure. The original also looks for words and so takes
// "0 errors" for one; ours goes by fields alone. Invariant: total on every value; no text is read for what it says.
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { type CompatOptions, compactPreview } from './compact-preview.ts';
import { isTruthy, stripBlanks } from './upstream-value.ts';

const LOOKED_AT = 2048;

/** Whether a call that we ran failed, by what was recorded of its end. The terminal itself says when 1 is no failure but an answer. */
export function hasFailed({ isError, observed, name }: ToolResultPart): boolean {
  const { exitCode = 0, refused } = observed;
  return isError || refused !== undefined || (exitCode !== 0 && !(exitCode === 1 && name === 'terminal'));
}

/**
 * Whether a tool's result records a failure (seed 002, evidence; notes 3). `result`: what the tool gave back, before any cut, of any
 * kind; a text that is a JSON object counts as that object. An object fails by `error`, `success` or `exit_code`, never by its words. Any
 * other value is no failure for ours; for the original one of five bare words in its first 2,047 characters is. Throws nothing.
 */
export function isErrorLike(result: unknown, options: CompatOptions = {}): boolean {
  const value = parsed(result);
  if (options.compat === 'upstream') {
    return isJsonObject(value) ? isUpstreamFailure(value) : hasUpstreamWord(value, options);
  }
  if (isJsonObject(value)) return isFailure(value);
  return Array.isArray(value) && value.some((item) => isJsonObject(item) && isErrorLike(item.text ?? item));
}

function parsed(result: unknown): unknown {
  const text = typeof result === 'string' ? stripBlanks(result) : '';
  if (!text.startsWith('{')) return result;
  const json = parseJson(text);
  if (json.ok) return json.value;
  const finite = parseJson(text.replace(NUMBER_WORDS, (word) => (word.startsWith('"') ? word : '1')));
  return finite.ok ? finite.value : result;
}

/** Texts, and the words for numbers that are none, which the original's tools write into JSON; those count as true and not as zero. */
const NUMBER_WORDS = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

function isUpstreamFailure({ error, success, exit_code: exitCode }: JsonObject): boolean {
  if (isTruthy(error) || success === false) return true;
  return exitCode !== null && exitCode !== undefined && exitCode !== 0 && exitCode !== false;
}

const UPSTREAM_WORDS = ['traceback', 'exception', 'error', 'failed', 'exit_code'];

function hasUpstreamWord(value: unknown, options: CompatOptions): boolean {
  const text = compactPreview(value, LOOKED_AT, options).toLowerCase();
  return UPSTREAM_WORDS.some((word) => text.includes(word));
}

/** Also a status by word, a flag, an exit code as text. */
function isFailure(result: JsonObject): boolean {
  const { error, success, status, isError, is_error: isErrorFlag } = result;
  if (isTruthy(error) || success === false || isError === true || isErrorFlag === true) return true;
  if (typeof status === 'string' && /^(?:error|failed|failure)$/i.test(status)) return true;
  return [result.exit_code, result.exitCode].some((code) => code === true || isNonZero(code));
}

function isNonZero(code: unknown): boolean {
  return (typeof code === 'number' || (typeof code === 'string' && code.trim() !== '')) && Number(code) !== 0;
}

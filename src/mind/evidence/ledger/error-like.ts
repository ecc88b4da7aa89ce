// Owns the question whether a tool's raw result looks like a failure (curator notes 3). Pure. The original looks for bare substrings and
// so takes "0 errors" for one; ours wants a statement. Invariant: total on every value.
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { type CompatOptions, compactPreview } from './compact-preview.ts';
import { isTruthy, stripBlanks } from './upstream-value.ts';

const LOOKED_AT = 2048;

/**
 * Whether a tool's result looks like a failure (seed 002, evidence; notes 3). `result`: what the tool gave back, before any cut, of any
 * kind; a text that is a JSON object counts as that object. An object fails by `error`, `success` or `exit_code`, never by its words; any
 * other value by what its first 2,047 characters say: for the original one of five bare words, for ours a statement. Throws nothing.
 */
export function isErrorLike(result: unknown, options: CompatOptions = {}): boolean {
  const value = parsed(result);
  if (options.compat === 'upstream') {
    return isJsonObject(value) ? isUpstreamFailure(value) : hasUpstreamWord(value, options);
  }
  if (isJsonObject(value)) return isFailure(value);
  if (Array.isArray(value)) return value.some((item) => isJsonObject(item) && isErrorLike(item.text ?? item));
  return typeof value === 'string' && saysFailure(compactPreview(value, LOOKED_AT));
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

const STATEMENTS: readonly RegExp[] = [
  /traceback \(most recent call last\)/i,
  /^\s*(?:[\w.]{0,60}(?:error|exception)|fatal|panic|npm err!|e)\b(?:\s?\[[^\]\n]{1,40}\])?:(?!\s*(?:0|none|null|false|no)\b)/im,
  /(?::|\))\s(?:fatal )?error\b(?: \w{1,12})?:\s/i,
  /^\s*(?:fatal|unhandled|uncaught)\s[^\n]{0,40}\b(?:error|exception)\b/im,
  /\bexit(?:ed)?(?:[ _](?:with|code|status)){1,3}\s{0,2}[:=]?\s{0,2}-?[1-9]/i,
  /\b[1-9]\d{0,6} (?:errors?|failures?|failed|failing)\b/i,
  /\b(?:command|build|test|tests|request|connection|job|deploy|deployment|install|installation|operation|compilation|upload|download|login|authentication|it|has|have) failed\b/i,
  /^\s*(?:FAILED|FAIL|ERROR)\b(?!\w|\s*[:=]\s*(?:0|none)\b)/m,
  /\bfailed (?:to|with|because)\b/i,
  /\b(?:command not found|no such file or directory|permission denied|connection refused|segmentation fault|out of memory)\b/i,
];

function saysFailure(text: string): boolean {
  return STATEMENTS.some((statement) => statement.test(text));
}

// Owns what a line of evidence gives away: a source dump, a near-cap skill, a safety preference, a failure, a workflow, passing progress
// (curator notes 7). Pure, linear. Ours does not take "exit code 0" for a failure; the rest is the original's.
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { isTruthy } from '#mind/evidence/ledger/upstream-value.ts';
import { jsonInside } from './inner-text.ts';

export function isSourceDump(text: string): boolean {
  return occurs(text, /(?:^|\s)\p{Nd}+\|/gu, 2);
}

const NEAR_CAP_BYTES = 90_000;
const SIZE_IN_TEXT = /SKILL\.md[\s\S]{0,40}?(?<!\p{Nd})(\p{Nd}{4,6})\s{0,8}bytes/iu;
const NEAR_CAP_WORDS = /\bnear[\s-](?:the[\s-])?(?:100k|cap)\b|\bover[\s-](?:the[\s-])?cap\b/i;

/** The observed size when the skill is near its cap; `undefined` when it is not, null when only words say so. */
export function nearCapSize(text: string, given: number): number | null | undefined {
  const size = given > 0 ? given : decimalValue(SIZE_IN_TEXT.exec(text)?.[1] ?? '0');
  if (size >= NEAR_CAP_BYTES) return size;
  return NEAR_CAP_WORDS.test(text) ? size || null : undefined;
}

const AUTO_APPLY: readonly RegExp[] = [/curator-evolver/i, /auto-apply/i, /agent-created|non-core/i];
const DURABLE: readonly RegExp[] = [
  /durable memory/i,
  /不存|不要存|別存|别存|只存|存|保存|儲存|储存|記住|记住|\bSOPs?\b|task progress|\bPRs?\b|\bSHAs?\b/i,
];
const FORBIDDING: readonly RegExp[] = [
  /must not|never|do not|don['’]t/i,
  /modify|touch|change/i,
  /\b(?:core|official|external)\b/i,
];

export function isSafetyPreference(text: string): boolean {
  if (inSequence(text, AUTO_APPLY) || inSequence(text, DURABLE)) return true;
  return /curator/i.test(text) && inSequence(text, FORBIDDING);
}

/** Whole words in every script: a letter of any alphabet beside one makes it another word. */
const FAILURE_WORDS =
  /(?<![\p{L}\p{N}_])(?:traceback|not found|exit=[1-9]\d*|nonzero|failed|size cap|exceeded|stderr|exit code:? {0,3}=? {0,3}(\p{Nd}+))(?![\p{L}\p{N}_])/giu;

export interface FailureQuestion {
  readonly raw: string;
  readonly inner: string;
  readonly toolName: string | null;
  readonly isError: boolean;
  readonly upstream: boolean;
}

export function isToolFailure({ raw, inner, toolName, isError, upstream }: FailureQuestion): boolean {
  if (isError || saysFailure(jsonInside(raw))) return true;
  if (toolName === 'skill_manage' && /cap/i.test(inner)) return true;
  for (const [, code] of inner.matchAll(FAILURE_WORDS)) {
    if (code === undefined || upstream || decimalValue(code) !== 0) return true;
  }
  return false;
}

function saysFailure(data: JsonValue | undefined): boolean {
  if (!isJsonObject(data)) return false;
  const { exit_code: code, error, exception } = data;
  return (typeof code === 'number' && code !== 0) || code === true || isTruthy(error) || isTruthy(exception);
}

const NUMBERED = /(?:^|\s)\p{Nd}{1,3}\.\s{1,4}\S/gu;
const STEP_WORDS =
  /\b(?:first|then|next|finally|step\s{0,3}\d+|SOP)\b|首先|先|接著|接着|然後|然后|再|最後|最后|步驟|步骤/gi;
const COMMAND = /`[^`\n]+`/g;
const CHINESE_PROCEDURE: readonly (readonly RegExp[])[] = [
  [/先/, /再|然後|然后|接著|接着|最後|最后/],
  [/步[驟骤]\s?[一1]/, /步[驟骤]\s?[二2]/],
  [/第一步/, /第二步/],
];

export function isWorkflow(text: string): boolean {
  if (occurs(text, NUMBERED, 2) || occurs(text, COMMAND, 2)) return true;
  if (occurs(text, COMMAND, 1) && occurs(text, STEP_WORDS, 2)) return true;
  return CHINESE_PROCEDURE.some((parts) => inSequence(text, parts));
}

const PULL_REQUEST = /\bPR\b ?#?\d*|pull request|(?:^|\s)#\d+/i;
const PROGRESS = /\b(?:merged|squashed|rebased|todo|wip)\b/i;

export function isEphemeral(text: string): boolean {
  const bare = text.trim();
  if (bare === '' || /^#\d+$/.test(bare) || /^[0-9a-f]{7,40}$/i.test(bare)) return true;
  return PULL_REQUEST.test(bare) && PROGRESS.test(bare);
}

/** Looks no further than the `least`-th place. */
function occurs(text: string, pattern: RegExp, least: number): boolean {
  let found = 0;
  for (const _match of text.matchAll(pattern)) {
    found += 1;
    if (found >= least) return true;
  }
  return false;
}

/** Whether the parts stand in the text one behind the other. */
function inSequence(text: string, parts: readonly RegExp[]): boolean {
  let at = 0;
  for (const part of parts) {
    const found = part.exec(text.slice(at));
    if (found === null) return false;
    at += found.index + found[0].length;
  }
  return true;
}

const DIGIT = /\p{Nd}/u;

/** `digits`: nothing else; the digits of every script stand in rows of ten from its zero on. */
export function decimalValue(digits: string): number {
  return Number(Array.from(digits, digitValue).join(''));
}

function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let below = 0;
  while (DIGIT.test(String.fromCodePoint(code - below - 1))) below += 1;
  return below % 10;
}

// Owns mining: a file of evidence lines, what each line could become by the first rule that fits, and the page of candidates (seed 002,
// candidates-mine; curator notes 7). Linear; writes nothing. Invariants: a candidate always needs a person and can never be applied by itself, and
// building one that says otherwise is refused; ours holds no key-shaped string, and none half cut; all lines are read before anything is handed
// on, one that cannot be read ends it with file and number, and what is held is bounded by candidates, not by the file.
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, parseJsonObject } from '#base/json.ts';
import { redactSecrets } from '#base/secrets.ts';
import { comparePoints, cutPoints } from '#base/text/code-points.ts';
import { plainMarks } from '#base/text/fold.ts';
import { type CompatOptions, isTruthy } from '#mind/evidence/ledger/compact-value.ts';
import { withoutBlock } from '#mind/skills/format/skill-text.ts';
import { inlineCode, inlineText } from './text.ts';

export const CANDIDATE_TYPES = ['memory', 'skill_update', 'skill_new', 'replay_benchmark', 'ignore'] as const;
export const CANDIDATE_STATUSES = ['pending', 'accepted', 'rejected'] as const;
export type CandidateType = (typeof CANDIDATE_TYPES)[number];

export interface Candidate {
  readonly id: string;
  readonly candidate_type: CandidateType;
  readonly title: string;
  /** One line of at most 140 characters. */
  readonly rationale: string;
  /** 0 to 1. */
  readonly confidence: number;
  readonly evidence_refs: readonly string[];
  readonly target_skill: string | null;
  readonly auto_apply_allowed: false;
  readonly requires_human_review: true;
  readonly metadata: JsonObject;
}

type SafetyFlags = 'auto_apply_allowed' | 'requires_human_review';
/** What a caller may say; the flags are there to be refused. */
type CandidateDraft = Omit<Candidate, 'id' | SafetyFlags> & { readonly [Flag in SafetyFlags]?: boolean };

const LONGEST_RATIONALE = 140;
/** UTF-16 units that are sure to hold more than the longest rationale. */
const ENOUGH_FOR_RATIONALE = 400;

/** @throws TalariaError `unsafe-candidate` for a draft that asks to be applied, `invalid-candidate` for a confidence outside 0..1. */
export function createCandidate(draft: CandidateDraft): Candidate {
  refuseUnsafe(draft);
  return {
    ...draft,
    id: candidateId(draft.candidate_type, draft.title, draft.evidence_refs),
    rationale: cutPoints(draft.rationale.slice(0, ENOUGH_FOR_RATIONALE).replaceAll('\n', ' '), LONGEST_RATIONALE),
    auto_apply_allowed: false,
    requires_human_review: true,
  };
}

/** Also for the queue, which trusts no one's candidate. */
export function refuseUnsafe(candidate: Pick<CandidateDraft, SafetyFlags | 'confidence'>): void {
  const { auto_apply_allowed: auto = false, requires_human_review: review = true, confidence } = candidate;
  if (auto !== false || review !== true) {
    throw new TalariaError('A candidate can never be applied by itself and always needs a person.', {
      code: 'unsafe-candidate',
    });
  }
  if (!(confidence >= 0 && confidence <= 1)) {
    throw new TalariaError('The confidence of a candidate is between 0 and 1.', { code: 'invalid-candidate' });
  }
}

/** First 32 hex digits of SHA-256 over type, title and sorted references. */
export function candidateId(type: string, title: string, refs: readonly string[]): string {
  return sha256(`${type}|${title}|${[...refs].sort(comparePoints).join(',')}`).slice(0, 32);
}

/** More of a text than any rationale keeps, so that a secret across the cut is seen whole. */
const ENOUGH = 40_000;

/**
 * What one line of evidence could become, by the first rule that fits (seed 002, candidates for review; notes 7). In: an object with
 * `text`, `evidence_ref` or `evidence_refs`, `target_skill`, `tool_name`, `is_error` and `skill_md_size` (bytes), its JSON text, or bare
 * text; fields of a wrong kind count as absent. Out: a candidate for a person, never one to be applied by itself: its `confidence` is 0
 * to 1, its `rationale` 140 code points at most, its `id` 32 hex digits. Ours redacts, does not read
 * managed blocks and takes no "exit code 0" for a failure. Throws nothing.
 */
export function classifyCandidate(evidenceLine: JsonValue, options: CompatOptions = {}): Candidate {
  const upstream = options.compat === 'upstream';
  const line = readEvidenceLine(evidenceLine, upstream);
  const said = innerText(line.text);
  const inner = upstream ? said : withoutBlock(said);
  return createCandidate({
    ...verdictOn(line, inner, upstream),
    rationale: upstream ? inner : redactSecrets(inner.slice(0, ENOUGH)),
    evidence_refs: line.refs,
    target_skill: line.targetSkill,
  });
}

type Verdict = Pick<Candidate, 'candidate_type' | 'title' | 'confidence' | 'metadata'>;

function verdictOn(line: EvidenceLine, inner: string, upstream: boolean): Verdict {
  const { toolName, targetSkill: skill, skillMdSize, isError } = line;
  const isDump = skillMdSize <= 0 && !isError && isSourceDump(inner);
  if (isDump) return ignored('line-numbered source dump', 0.2, 'source_dump');
  const size = nearCapSize(inner, skillMdSize);
  if (size !== undefined) {
    const metadata = { direct_append_allowed: false, reason: 'skill_md_near_cap', observed_size_bytes: size };
    const title = `near-cap SKILL.md for ${skill ?? 'unknown skill'}`;
    return { candidate_type: 'skill_update', title, confidence: 0.7, metadata };
  }
  if (isSafetyPreference(inner)) {
    const metadata = { category: 'user_safety_preference' };
    return { candidate_type: 'memory', title: 'curator-evolver safety preference', confidence: 0.9, metadata };
  }
  if (isToolFailure(line, inner, upstream)) {
    const title = `replay benchmark for ${toolName ?? 'tool'} failure`;
    const metadata = { tool_name: toolName, is_error: true };
    return { candidate_type: 'replay_benchmark', title, confidence: 0.75, metadata };
  }
  if (isWorkflow(inner)) {
    const common = { confidence: 0.65, metadata: { category: 'workflow' } };
    return skill === null
      ? { candidate_type: 'skill_new', title: 'new workflow skill candidate', ...common }
      : { candidate_type: 'skill_update', title: `workflow update for ${skill}`, ...common };
  }
  if (isEphemeral(inner)) return ignored('ephemeral progress note', 0.2, 'ephemeral');
  return ignored('unclassified evidence', 0.1, 'low_confidence');
}

function ignored(title: string, confidence: number, category: string): Verdict {
  return { candidate_type: 'ignore', title, confidence, metadata: { category } };
}

type EvidenceLine = ReturnType<typeof readEvidenceLine>;

/** `skillMdSize`: bytes; 0: not given. */
function readEvidenceLine(given: JsonValue, upstream: boolean) {
  const fields = fieldsOf(given);
  const own = (text: string) => (upstream ? text : redactSecrets(text));
  const named = (value: JsonValue | undefined) => {
    const name = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    return name.trim() === '' ? null : own(name);
  };
  const { skill_md_size: size } = fields;
  const bytes = typeof size === 'number' || typeof size === 'string' ? Math.trunc(Number(size)) : 0;
  const refs = [fields.evidence_refs, fields.evidence_ref].flatMap(refsOf);
  return {
    text: textOf(fields.text),
    refs: (upstream ? refs : [...new Set(refs)]).map(own),
    targetSkill: named(fields.target_skill),
    toolName: named(fields.tool_name),
    isError: isTruthy(fields.is_error),
    skillMdSize: Number.isFinite(bytes) && bytes > 0 ? bytes : 0,
  };
}

function fieldsOf(given: JsonValue): JsonObject {
  if (isJsonObject(given)) return given;
  if (typeof given !== 'string') return { text: textOf(given) };
  const read = parseJson(given);
  return read.ok && isJsonObject(read.value) && 'text' in read.value ? read.value : { text: given };
}

function refsOf(value: JsonValue | undefined): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value ?? ''];
  return list.map((ref) => (typeof ref === 'object' ? textOf(ref) : String(ref))).filter((ref) => ref !== '');
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return '';
    throw error;
  }
}

const KEYS = ['summary', 'text', 'output', 'content', 'error', 'exception'];
const DEEPEST = 50;

/** The words of a text that is JSON; a text that holds no words of its own stays what it is. */
export function innerText(text: string): string {
  const data = jsonInside(text);
  if (data === undefined) return text;
  const parts = collect(data, 0).filter((part) => part.trim() !== '');
  return parts.length > 0 ? parts.join('\n') : text;
}

function jsonInside(text: string): JsonValue | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  const read = parseJson(text.trim());
  return read.ok ? read.value : undefined;
}

function collect(value: JsonValue | undefined, depth: number): readonly string[] {
  if (typeof value === 'string') return [value];
  if (depth > DEEPEST) return [];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => collect(item, depth + 1));
  if (!isJsonObject(value)) return [];
  const found = KEYS.flatMap((key) => collect(value[key], depth + 1));
  return found.some((part) => part.trim() !== '') ? found : collect(value.results, depth + 1);
}

function isSourceDump(text: string): boolean {
  return occurs(text, /(?:^|\s)\p{Nd}+\|/gu, 2);
}

const NEAR_CAP_BYTES = 90_000;
const SIZE_IN_TEXT = /SKILL\.md[\s\S]{0,40}?(?<!\p{Nd})(\p{Nd}{4,6})\s{0,8}bytes/iu;
const NEAR_CAP_WORDS = /\bnear[\s-](?:the[\s-])?(?:100k|cap)\b|\bover[\s-](?:the[\s-])?cap\b/i;

/** The observed size when the skill is near its cap; `undefined` when it is not, null when only words say so. */
function nearCapSize(text: string, given: number): number | null | undefined {
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

function isSafetyPreference(text: string): boolean {
  if (inSequence(text, AUTO_APPLY) || inSequence(text, DURABLE)) return true;
  return /curator/i.test(text) && inSequence(text, FORBIDDING);
}

/** Whole words in every script: a letter of any alphabet beside one makes it another word. */
const FAILURE_WORDS =
  /(?<![\p{L}\p{N}_])(?:traceback|not found|exit=[1-9]\d*|nonzero|failed|size cap|exceeded|stderr|exit code:? {0,3}=? {0,3}(\p{Nd}+))(?![\p{L}\p{N}_])/giu;

function isToolFailure({ text, toolName, isError }: EvidenceLine, inner: string, upstream: boolean): boolean {
  if (isError || saysFailure(jsonInside(text))) return true;
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

function isWorkflow(text: string): boolean {
  if (occurs(text, NUMBERED, 2) || occurs(text, COMMAND, 2)) return true;
  if (occurs(text, COMMAND, 1) && occurs(text, STEP_WORDS, 2)) return true;
  return CHINESE_PROCEDURE.some((parts) => inSequence(text, parts));
}

const PULL_REQUEST = /\bPR\b ?#?\d*|pull request|(?:^|\s)#\d+/i;
const PROGRESS = /\b(?:merged|squashed|rebased|todo|wip)\b/i;

function isEphemeral(text: string): boolean {
  const bare = text.trim();
  if (bare === '' || /^#\d+$/.test(bare) || /^[0-9a-f]{7,40}$/i.test(bare)) return true;
  return PULL_REQUEST.test(bare) && PROGRESS.test(bare);
}

function occurs(text: string, pattern: RegExp, least: number): boolean {
  let found = 0;
  for (const _match of text.matchAll(pattern)) {
    found += 1;
    if (found >= least) return true;
  }
  return false;
}

function inSequence(text: string, parts: readonly RegExp[]): boolean {
  let at = 0;
  for (const part of parts) {
    const found = part.exec(text.slice(at));
    if (found === null) return false;
    at += found.index + found[0].length;
  }
  return true;
}

/** `digits`: nothing else, of any script. */
export function decimalValue(digits: string): number {
  return Number(plainMarks(digits));
}

/** More than anybody will review; it keeps memory bounded. */
const MOST_CANDIDATES = 250_000;

/**
 * Seed 002 §candidates-mine. JSONL, one object a line, blank lines passed over. Out: the lines that held something, counted, and each
 * candidate once, in the order in which the lines named it first.
 * @throws TalariaError `invalid-json` | `line-too-long` | `line-not-utf-8` | `too-many-candidates`; what the file system throws.
 */
export async function mineFile(path: string, signal: AbortSignal) {
  const found = new Map<string, Candidate>();
  let count = 0;
  for await (const { number, text } of readLines(path, signal)) {
    if (text.trim() === '') continue;
    const candidate = classifyCandidate(evidenceIn(text, `${path}:${number}`));
    count += 1;
    if (found.has(candidate.id)) continue;
    if (found.size === MOST_CANDIDATES)
      throw new TalariaError(`${path}:${number}: More than ${MOST_CANDIDATES} different candidates.`, {
        code: 'too-many-candidates',
        fix: 'Mine the file in parts. Nothing was stored.',
      });
    found.set(candidate.id, candidate);
  }
  return { count, candidates: [...found.values()] };
}

function evidenceIn(text: string, place: string): JsonObject {
  const read = parseJsonObject(text);
  if (read.ok) return read.value;
  const why = (read.detail.split('\n', 1)[0] ?? '').replace(/ \(line \d+ column \d+\)/, '').slice(0, 160);
  const what = read.reason === 'not-an-object' ? 'The line is no JSON object.' : `The line is no JSON: ${why}.`;
  throw new TalariaError(`${place}: ${what}`, {
    code: 'invalid-json',
    fix: 'Every line is one JSON object: {"text": "…", "evidence_ref": "…"}. Nothing was stored.',
  });
}

export const LONGEST_LINE = 4 * 1024 * 1024;

const NEWLINE = 0x0a;
/** Takes a byte order mark away. */
const UTF8 = new TextDecoder();

/** Lines without their ends, numbered from 1. @throws TalariaError `line-too-long` | `line-not-utf-8`; what the file system throws. */
export async function* readLines(path: string, signal: AbortSignal) {
  let number = 0;
  const lineOf = (bytes: Buffer) => {
    number += 1;
    const fault = (what: string, code: string) => new TalariaError(`${path}:${number}: The line is ${what}.`, { code });
    if (bytes.length > LONGEST_LINE) throw fault('longer than 4 MB', 'line-too-long');
    if (!isUtf8(bytes)) throw fault('not UTF-8', 'line-not-utf-8');
    return { number, text: UTF8.decode(bytes) };
  };
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { signal }) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      yield lineOf(bytes.subarray(from, end));
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > LONGEST_LINE) lineOf(rest);
  }
  if (rest.length > 0) yield lineOf(rest);
}

/** `status`: of a listing; `enqueued`: of a mining, false for one that waited already. */
type CandidateItem = Candidate & { readonly status?: string; readonly enqueued?: boolean };

/** `counts`: labelled figures in the order in which they are shown; `next`: what can be typed now. */
export function candidatesMarkdown(
  title: string,
  counts: Readonly<Record<string, number>>,
  candidates: readonly CandidateItem[],
  next?: string,
): string {
  return `${[
    `# ${title}`,
    '',
    'Review only: nothing here was applied, and nothing is applied without a person.',
    '',
    ...Object.entries(counts).map(([label, count]) => `- ${label}: ${count}`),
    ...candidates.flatMap(section),
    ...(next === undefined || candidates.length === 0 ? [] : ['', next]),
  ].join('\n')}\n`;
}

function section(item: CandidateItem): readonly string[] {
  const refs = item.evidence_refs.map(inlineCode).join(', ');
  return [
    '',
    `## ${inlineText(item.title)}`,
    `- Id: \`${item.id}\``,
    `- Type: ${item.candidate_type}`,
    ...(item.status === undefined ? [] : [`- Status: ${item.status}`]),
    ...(item.enqueued === undefined ? [] : [`- New: ${item.enqueued ? 'yes' : 'no'}`]),
    `- Confidence: ${item.confidence}`,
    `- Target skill: ${item.target_skill === null ? '-' : inlineText(item.target_skill)}`,
    `- Evidence: ${refs === '' ? '-' : refs}`,
    `- Rationale: ${inlineText(item.rationale)}`,
  ];
}

// Owns what a line of evidence could become: the first rule that fits decides (seed 002; curator notes 7). Pure; writes nothing.
// Invariants: total; the result is always for a person to review; ours holds no key-shaped string, and none half cut.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { isTruthy } from '#mind/evidence/ledger/upstream-value.ts';
import { withoutBlock } from '#mind/skills/format/managed-block.ts';
import { type Candidate, type CandidateType, createCandidate } from './candidate.ts';
import { innerText } from './inner-text.ts';
import { isEphemeral, isSafetyPreference, isSourceDump, isToolFailure, isWorkflow, nearCapSize } from './signals.ts';

interface Verdict {
  readonly type: CandidateType;
  readonly title: string;
  readonly confidence: number;
  readonly metadata: JsonObject;
}

interface Seen {
  readonly line: EvidenceLine;
  readonly inner: string;
  readonly upstream: boolean;
}

/**
 * What one line of evidence could become, by the first rule that fits (seed 002, candidates for review; notes 7). In: an object with
 * `text`, `evidence_ref` or `evidence_refs`, `target_skill`, `tool_name`, `is_error` and `skill_md_size` (bytes), its JSON text, or bare
 * text; fields of a wrong kind count as absent. Out: a candidate for a person, never one to be applied by itself: its `confidence` is 0
 * to 1, its `rationale` 140 code points at most, its `id` 32 hex digits. Ours redacts, does not read
 * managed blocks and takes no "exit code 0" for a failure. Throws nothing.
 */
export function classifyCandidate(evidenceLine: JsonValue, options: CompatOptions = {}): Candidate {
  const upstream = options.compat === 'upstream';
  const read = readEvidenceLine(evidenceLine, options);
  const line = upstream ? read : withoutSecrets(read);
  const said = innerText(line.text);
  const inner = upstream ? said : withoutBlock(said);
  const { type, title, confidence, metadata } = decide({ line, inner, upstream });
  return createCandidate({
    candidate_type: type,
    title,
    rationale: upstream ? inner : redactSecrets(inner.slice(0, ENOUGH)),
    confidence,
    evidence_refs: line.refs,
    target_skill: line.targetSkill,
    metadata,
  });
}

/** More of a text than any rationale keeps, so that a secret across the cut is seen whole. */
const ENOUGH = 40_000;

function withoutSecrets(line: EvidenceLine): EvidenceLine {
  const named = (name: string | null) => (name === null ? null : redactSecrets(name));
  return {
    ...line,
    refs: line.refs.map((ref) => redactSecrets(ref)),
    targetSkill: named(line.targetSkill),
    toolName: named(line.toolName),
  };
}

const RULES: readonly ((seen: Seen) => Verdict | undefined)[] = [
  sourceDump,
  nearCap,
  safetyPreference,
  toolFailure,
  workflow,
  ephemeral,
];

function decide(seen: Seen): Verdict {
  for (const rule of RULES) {
    const verdict = rule(seen);
    if (verdict !== undefined) return verdict;
  }
  return ignored('unclassified evidence', 0.1, 'low_confidence');
}

function ignored(title: string, confidence: number, category: string): Verdict {
  return { type: 'ignore', title, confidence, metadata: { category } };
}

function sourceDump({ line, inner }: Seen): Verdict | undefined {
  if (line.skillMdSize > 0 || line.isError || !isSourceDump(inner)) return undefined;
  return ignored('line-numbered source dump', 0.2, 'source_dump');
}

function nearCap({ line, inner }: Seen): Verdict | undefined {
  const size = nearCapSize(inner, line.skillMdSize);
  if (size === undefined) return undefined;
  return {
    type: 'skill_update',
    title: `near-cap SKILL.md for ${line.targetSkill ?? 'unknown skill'}`,
    confidence: 0.7,
    metadata: { direct_append_allowed: false, reason: 'skill_md_near_cap', observed_size_bytes: size },
  };
}

function safetyPreference({ inner }: Seen): Verdict | undefined {
  if (!isSafetyPreference(inner)) return undefined;
  const title = 'curator-evolver safety preference';
  return { type: 'memory', title, confidence: 0.9, metadata: { category: 'user_safety_preference' } };
}

function toolFailure({ line, inner, upstream }: Seen): Verdict | undefined {
  const { text: raw, toolName, isError } = line;
  if (!isToolFailure({ raw, inner, toolName, isError, upstream })) return undefined;
  return {
    type: 'replay_benchmark',
    title: `replay benchmark for ${toolName ?? 'tool'} failure`,
    confidence: 0.75,
    metadata: { tool_name: toolName, is_error: true },
  };
}

function workflow({ line, inner }: Seen): Verdict | undefined {
  if (!isWorkflow(inner)) return undefined;
  const { targetSkill: skill } = line;
  const confidence = 0.65;
  const metadata = { category: 'workflow' };
  return skill === null
    ? { type: 'skill_new', title: 'new workflow skill candidate', confidence, metadata }
    : { type: 'skill_update', title: `workflow update for ${skill}`, confidence, metadata };
}

function ephemeral({ inner }: Seen): Verdict | undefined {
  return isEphemeral(inner) ? ignored('ephemeral progress note', 0.2, 'ephemeral') : undefined;
}

interface EvidenceLine {
  readonly text: string;
  readonly refs: readonly string[];
  readonly targetSkill: string | null;
  readonly toolName: string | null;
  readonly isError: boolean;
  /** Bytes; 0: not given. */
  readonly skillMdSize: number;
}

function readEvidenceLine(given: JsonValue, options: CompatOptions = {}): EvidenceLine {
  const fields = fieldsOf(given);
  const refs = [...refsOf(fields.evidence_refs), ...refsOf(fields.evidence_ref)];
  return {
    text: textOf(fields.text),
    refs: options.compat === 'upstream' ? refs : [...new Set(refs)],
    targetSkill: named(fields.target_skill),
    toolName: named(fields.tool_name),
    isError: isTruthy(fields.is_error),
    skillMdSize: sizeOf(fields.skill_md_size),
  };
}

function fieldsOf(given: JsonValue): JsonObject {
  if (isJsonObject(given)) return given;
  if (typeof given !== 'string') return { text: textOf(given) };
  const read = parseJson(given);
  const isLine = read.ok && isJsonObject(read.value) && 'text' in read.value;
  return isLine ? (read.value as JsonObject) : { text: given };
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

function named(value: JsonValue | undefined): string | null {
  const name = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return name.trim() === '' ? null : name;
}

function sizeOf(value: JsonValue | undefined): number {
  const size = typeof value === 'number' || typeof value === 'string' ? Math.trunc(Number(value)) : 0;
  return Number.isFinite(size) && size > 0 ? size : 0;
}

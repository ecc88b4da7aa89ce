// Owns the one way from a proposal of an unattended writer to a file: ledger, gate, judge, policy, door. Reviews, the flush, the owner's
// yes and later the curator use it (design 1 and 2). Knows no model and no surface.
// Invariants: nothing is written that the gate did not accept and a judge did not call supported, but what is exact by construction and
// by the owner's yes; no verdict means that it waits; every proposal ends decided or pending.
import { canonicalJson } from '#base/json.ts';
import type { Ok, Refusal } from '#base/result.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { ChangeOptions } from '#mind/evidence/gate/changed-text.ts';
import { weighProposal } from '#mind/evidence/gate/weigh-proposal.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import { operationsOf } from '#mind/evidence/memory-operation.ts';
import type { Actor, Proposal, ProposalDraft, ProposalLedger } from '#mind/evidence/proposal.ts';
import type { MemoryFiles } from '#mind/memory/memory-files.ts';
import { checkSkillChange } from '#mind/skills/door/check/check-skill-change.ts';
import type { SkillReader } from '#mind/skills/skill.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';
import { findDeclinedEntry, findDeclinedSkill } from './declined.ts';
import { doneLine } from './describe-change.ts';
import { findWaiting } from './find-waiting.ts';
import { type KeepSituation, keepWay } from './keep-policy.ts';
import { memoryTarget } from './memory-target.ts';
import type { PendingFiles } from './pending-files.ts';
import { readSkillChange } from './read-skill-change.ts';
import { readSkillTexts } from './read-skill-texts.ts';
import { findRepeated } from './repeated-skill.ts';

export interface KeepDoors {
  readonly ledger: ProposalLedger;
  /** All messages of a session, those that were compressed away too. */
  readonly messagesOf: (sessionId: string) => readonly StoredMessage[];
  readonly memory: MemoryFiles;
  readonly skills: {
    readonly reader: Pick<SkillReader, 'get' | 'list' | 'record'>;
    readonly door: Pick<SkillDoor, 'write'>;
    /** Awaited before the first look: the reader then knows every skill. */
    readonly ready?: () => Promise<void>;
  };
  readonly pending: PendingFiles;
  readonly judge: Judge;
  /** Takes secrets out of texts, as the ledger takes them out of quotes. */
  readonly redact?: (text: string) => string;
}

export type Kept =
  | { readonly status: 'applied'; readonly proposal: Proposal; readonly line: string }
  | { readonly status: 'pending'; readonly proposal: Proposal; readonly reason: string }
  | { readonly status: 'refused'; readonly proposal: Proposal; readonly reason: string; readonly detail: string };

/** What the policy needs to know beside the proposal. */
export interface KeepSetting extends Pick<KeepSituation, 'attended' | 'unattended' | 'alwaysCreate'> {
  /** Made by a rule that only copies, counts or cuts the owner's words and recorded calls: there is nothing to judge. */
  readonly byRule?: boolean;
}

/** Throws TalariaError for broken I/O, with the old state intact. */
export async function keepProposal(
  doors: KeepDoors,
  draft: ProposalDraft,
  setting: KeepSetting,
  signal?: AbortSignal,
): Promise<Kept> {
  const checked = await preparedDraft(doors, draft);
  const proposal = await doors.ledger.open(checked.draft);
  if (isAltered(checked.draft, proposal)) return refused(doors, proposal, SECRET);
  if (checked.refusal) return refused(doors, proposal, checked.refusal);
  const messages = proposal.sessionId === undefined ? [] : doors.messagesOf(proposal.sessionId);
  const options = {
    before: textsBefore(doors, proposal),
    ...checked.texts,
    ...(setting.byRule ? { byRule: true } : {}),
  };
  const held = await weighProposal(doors, { draft: proposal, subject: proposal.id, messages, ...options }, signal);
  if (held?.decision === 'refused') return refused(doors, proposal, held);
  if (held !== undefined) return waits(doors, proposal, held);
  const way = keepWay(proposal, { ...setting, agentMade: isAgentMade(doors, proposal) });
  if (way === 'draft') return waits(doors, proposal, { reason: 'needs-owner', detail: 'The owner decides.' });
  return applyProposal(doors, proposal, { actor: proposal.actor, ...(signal ? { signal } : {}) });
}

const SECRET = { reason: 'secret', detail: 'It holds a secret. Name an environment variable instead.' };

/** A change that could be stored only without its secrets is not the one that was meant. */
function isAltered({ change }: ProposalDraft, stored: Proposal): boolean {
  return canonicalJson(change) !== canonicalJson(stored.change);
}

export interface ApplyOptions {
  /** In whose name the door is passed; `agent` once the owner said yes. */
  readonly actor: Actor;
  readonly signal?: AbortSignal;
}

/** Through the door of its kind. The door decides the proposal. */
export async function applyProposal(doors: KeepDoors, proposal: Proposal, options: ApplyOptions): Promise<Kept> {
  const done =
    proposal.kind === 'memory'
      ? await applyMemory(doors, proposal, options)
      : await applySkill(doors, proposal, options);
  const now = doors.ledger.get(proposal.id) ?? proposal;
  if (now.status !== 'pending') doors.pending.drop(now);
  if (!done.ok) {
    if (now.status === 'pending') doors.pending.put(now);
    return now.status === 'pending'
      ? { status: 'pending', proposal: now, reason: done.reason }
      : { status: 'refused', proposal: now, reason: done.reason, detail: done.detail };
  }
  if (now.status !== 'applied')
    return {
      status: 'refused',
      proposal: now,
      reason: now.reason ?? 'unchanged',
      detail: now.detail ?? 'It stands there already.',
    };
  return { status: 'applied', proposal: now, line: doneLine(now) };
}

async function applyMemory(
  { memory }: KeepDoors,
  { id, change, sessionId }: Proposal,
  { actor, signal }: ApplyOptions,
): Promise<Ok<unknown> | Refusal> {
  const operations = operationsOf(change);
  if (typeof operations === 'string') return { ok: false, reason: 'incomplete', detail: operations };
  const whose = {
    actor,
    proposalId: id,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(signal ? { signal } : {}),
  };
  return memory.apply(memoryTarget(change), operations, whose);
}

async function applySkill(
  { skills }: KeepDoors,
  { id, target, change, sessionId, citations }: Proposal,
  { actor, signal }: ApplyOptions,
): Promise<Ok<unknown> | Refusal> {
  const read = readSkillChange(change);
  if (!read.ok) return read;
  const { expected_hash: hash } = change;
  return skills.door.write(
    {
      name: target,
      change: read.value,
      actor,
      approved: true,
      citations,
      proposalId: id,
      ...(typeof hash === 'string' ? { expectedHash: hash } : {}),
      ...(sessionId === undefined ? {} : { sessionId }),
    },
    signal,
  );
}

interface Prepared {
  readonly draft: ProposalDraft;
  readonly refusal?: { readonly reason: string; readonly detail: string };
  readonly texts?: Pick<ChangeOptions, 'skill'>;
}

/** What can be known before anything is asked: is it a change at all, and can it be made? A skill's hash goes along. */
async function preparedDraft(doors: KeepDoors, draft: ProposalDraft): Promise<Prepared> {
  const { skills, ledger, memory } = doors;
  if (draft.kind === 'memory') {
    const operations = operationsOf(draft.change);
    if (typeof operations === 'string') return { draft, refusal: { reason: 'incomplete', detail: operations } };
    const declined = findDeclinedEntry({ ledger, entries: entriesOf(memory, draft.change) }, draft, operations);
    const refusal = declined ?? waitingAlready(ledger, draft);
    return refusal ? { draft, refusal } : { draft };
  }
  const read = readSkillChange(draft.change);
  if (!read.ok) return { draft, refusal: read };
  await skills.ready?.();
  const again = findDeclinedSkill({ ledger, isThere: (name) => skills.reader.get(name) !== undefined }, draft);
  if (again) return { draft, refusal: again };
  const same = waitingAlready(ledger, draft);
  if (same) return { draft, refusal: same };
  const repeated = repeatOf(doors, draft);
  if (repeated) return { draft, refusal: { reason: 'repeats-skill', detail: repeated } };
  const checked = await checkSkillChange(skills.reader, draft.target, read.value);
  if (!checked.ok) return { draft, refusal: checked };
  const { hash } = checked.value;
  const texts = await readSkillTexts(skills.reader.get(draft.target), read.value);
  if (hash === undefined) return { draft, texts };
  return { draft: { ...draft, change: { ...draft.change, expected_hash: hash } }, texts };
}

function waitingAlready(ledger: ProposalLedger, draft: ProposalDraft): Prepared['refusal'] {
  const same = findWaiting(ledger, draft);
  return same && { reason: 'already-pending', detail: `The same waits already: ${same.id}.` };
}

/** A new skill whose steps stand in another one is a patch of that one. */
function repeatOf({ skills, ledger }: KeepDoors, { target, action, change }: ProposalDraft): string | undefined {
  if (action !== 'create' || typeof change.content !== 'string') return undefined;
  const draft = { name: target, text: change.content };
  const kept = findRepeated(
    draft,
    skills.reader.list().filter((skill) => skill.writable && skill.name !== target),
  );
  if (kept !== undefined) return `Most of its commands stand in the skill ${kept}: patch ${kept} instead.`;
  const waiting = ledger.list({ kind: 'skill', status: 'pending' }).filter((one) => one.action === 'create');
  const texts = waiting.map((one) => ({ name: one.target, text: String(one.change.content ?? '') }));
  const offered = findRepeated(draft, texts);
  return offered && `Most of its commands stand in the skill ${offered}, which waits for the owner: leave it at that.`;
}

/** What the change would replace: the gate asks for evidence of what is new alone. */
function textsBefore({ memory, skills }: KeepDoors, { kind, target, change }: Proposal): readonly string[] {
  if (kind === 'skill') return [skills.reader.get(target)?.text ?? ''];
  return entriesOf(memory, change);
}

function entriesOf(memory: MemoryFiles, change: Proposal['change']): readonly string[] {
  const state = memory.read(memoryTarget(change));
  return state.ok ? state.value.entries : [];
}

function isAgentMade({ skills }: KeepDoors, { kind, target }: Proposal): boolean {
  if (kind !== 'skill') return true;
  const record = skills.reader.record(target);
  return record?.createdBy === 'agent' && !record.pinned;
}

async function refused(
  { ledger }: KeepDoors,
  proposal: Proposal,
  { reason, detail }: { readonly reason: string; readonly detail: string },
): Promise<Kept> {
  await ledger.decide(proposal.id, { status: 'refused', reason, detail });
  return { status: 'refused', proposal: ledger.get(proposal.id) ?? proposal, reason, detail };
}

async function waits(
  { ledger, pending }: KeepDoors,
  proposal: Proposal,
  { reason, detail }: { readonly reason: string; readonly detail: string },
): Promise<Kept> {
  await ledger.decide(proposal.id, { status: 'pending', reason, detail });
  const waiting = ledger.get(proposal.id) ?? proposal;
  pending.put(waiting);
  return { status: 'pending', proposal: waiting, reason };
}

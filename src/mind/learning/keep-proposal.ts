// Owns the one way from a proposal of an unattended writer to a file: ledger, gate, judge, policy, door (design 1 and 2; seed 001 ch 11).
// Invariants: nothing is written that the gate did not accept and a judge did not call supported, but what is exact by construction or has the
// owner's yes; nothing is deleted, and nothing of the owner's changed, without that yes; every proposal ends decided or pending.
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { type Ok, ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import type { MemoryWriteNotice } from '#core/agent/memory-provider.ts';
import type { Doors, RoomGround } from '#core/agent/room.ts';
import type { ChangeOptions } from '#mind/evidence/gate/changed-text.ts';
import { weighProposal } from '#mind/evidence/gate/gate-proposal.ts';
import { findWaiting, type PendingFiles } from '#mind/evidence/gate/pending-files.ts';
import type { Judge } from '#mind/evidence/judge.ts';
import {
  type Actor,
  operationsOf,
  type Proposal,
  type ProposalDraft,
  type ProposalLedger,
} from '#mind/evidence/proposal.ts';
import { memoryTarget } from '#mind/memory/kept-entries.ts';
import type { MemoryFiles } from '#mind/memory/memory-files.ts';
import { sessionMessages } from '#mind/sessions/told-messages.ts';
import { changeSkill } from '#mind/skills/door/change-skill.ts';
import { checkSkillChange } from '#mind/skills/door/check-skill.ts';
import { readSkillTree, type SkillTree, textOf } from '#mind/skills/door/skill-tree.ts';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { SKILL_FILE } from '#mind/skills/format/skill-text.ts';
import type { Skill, SkillChange, SkillDoor } from '#mind/skills/skill.ts';
import { readSkillChange as readAsked, skillManageInput } from '#mind/skills/skill-cards.ts';
import { doneLine, findDeclinedEntry, findDeclinedSkill, findRepeated } from './drafts.ts';
import { writtenNotices } from './memory-providers.ts';

/** What every part of learning works with: doors of other rooms, and the ground of this agent. */
export interface LearningParts extends Pick<RoomGround, 'clock' | 'background' | 'log' | 'notice' | 'redact'> {
  readonly store: Doors['sessions'];
  readonly ledger: ProposalLedger;
  readonly memory: MemoryFiles;
  readonly library: Pick<Doors['skills'], 'get' | 'list' | 'record' | 'ready' | 'refresh'>;
  readonly door: SkillDoor;
  readonly judge: Judge;
  readonly pending: PendingFiles;
  /** Tells the provider beside the files of a write. Never throws. */
  readonly mirror: (notice: MemoryWriteNotice) => Promise<void>;
}

export type Kept =
  | { readonly status: 'applied'; readonly proposal: Proposal; readonly line: string }
  | ({ readonly status: 'pending' | 'refused'; readonly proposal: Proposal } & Why);

interface Why {
  readonly reason: string;
  readonly detail: string;
}

/** Throws TalariaError for broken I/O, with the old state intact. */
export async function keepProposal(
  parts: LearningParts,
  draft: ProposalDraft,
  setting: KeepSituation,
  signal?: AbortSignal,
): Promise<Kept> {
  const checked = await preparedDraft(parts, draft);
  const proposal = await parts.ledger.open(checked.draft);
  if (isAltered(checked.draft, proposal)) return decided(parts, proposal, 'refused', SECRET);
  if (checked.refusal) return decided(parts, proposal, 'refused', checked.refusal);
  const messages = proposal.sessionId === undefined ? [] : sessionMessages(parts.store.database, proposal.sessionId);
  const options = {
    before: textsBefore(parts, proposal),
    ...checked.texts,
    ...(setting.byRule ? { byRule: true } : {}),
  };
  const held = await weighProposal(parts, { draft: proposal, subject: proposal.id, messages, ...options }, signal);
  if (held) return decided(parts, proposal, held.decision, held);
  const way = keepWay(proposal, setting, isAgentMade(parts, proposal));
  if (way === 'draft')
    return decided(parts, proposal, 'pending', { reason: 'needs-owner', detail: 'The owner decides.' });
  return applyProposal(parts, proposal, proposal.actor, signal);
}

const SECRET = { reason: 'secret', detail: 'It holds a secret. Name an environment variable instead.' };

/** A change that could be stored only without its secrets is not the one that was meant. */
function isAltered({ change }: ProposalDraft, stored: Proposal): boolean {
  return canonicalJson(change) !== canonicalJson(stored.change);
}

/** Through the door of its kind, in whose name `actor` says: `agent` once the owner said yes. The door decides the proposal. */
export async function applyProposal(
  parts: LearningParts,
  proposal: Proposal,
  actor: Actor,
  signal?: AbortSignal,
): Promise<Kept> {
  const { ledger, pending } = parts;
  const apply = proposal.kind === 'memory' ? applyMemory : applySkill;
  const done = await apply(parts, proposal, actor, signal);
  const now = ledger.get(proposal.id) ?? proposal;
  if (now.status !== 'pending') pending.drop(now);
  if (!done.ok && now.status === 'pending') {
    pending.put(now);
    return { status: 'pending', proposal: now, reason: done.reason, detail: done.detail };
  }
  if (done.ok && now.status === 'applied') return { status: 'applied', proposal: now, line: doneLine(now) };
  const { reason = 'unchanged', detail = 'It stands there already.' } = done.ok ? now : done;
  return { status: 'refused', proposal: now, reason, detail };
}

async function applyMemory(
  { memory }: LearningParts,
  { id, change, sessionId }: Proposal,
  actor: Actor,
  signal?: AbortSignal,
): Promise<Ok<unknown> | Refusal> {
  const operations = operationsOf(change);
  if (typeof operations === 'string') return refuse('incomplete', operations);
  return memory.apply(memoryTarget(change), operations, {
    ...{ actor, proposalId: id },
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(signal ? { signal } : {}),
  });
}

async function applySkill(
  { door }: LearningParts,
  { id, target, change, sessionId, citations }: Proposal,
  actor: Actor,
  signal?: AbortSignal,
): Promise<Ok<unknown> | Refusal> {
  const read = readSkillChange(change);
  if (!read.ok) return read;
  const { expected_hash: hash } = change;
  const whose = {
    ...(typeof hash === 'string' ? { expectedHash: hash } : {}),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
  const request = { name: target, change: read.value, actor, approved: true, citations, proposalId: id, ...whose };
  return door.write(request, signal);
}

/** What can be known before anything is asked: is it a change at all, and can it be made? A skill's hash goes along. */
async function preparedDraft(
  parts: LearningParts,
  draft: ProposalDraft,
): Promise<{
  readonly draft: ProposalDraft;
  readonly refusal?: Why;
  readonly texts?: Pick<ChangeOptions, 'skill'>;
}> {
  const { library, ledger, memory } = parts;
  const waiting = findWaiting(ledger, draft);
  const same = waiting && { reason: 'already-pending', detail: `The same waits already: ${waiting.id}.` };
  if (draft.kind === 'memory') {
    const operations = operationsOf(draft.change);
    if (typeof operations === 'string') return { draft, refusal: { reason: 'incomplete', detail: operations } };
    const declined = findDeclinedEntry(ledger, entriesOf(memory, draft.change), draft, operations);
    const refusal = declined ?? same;
    return refusal ? { draft, refusal } : { draft };
  }
  const read = readSkillChange(draft.change);
  if (!read.ok) return { draft, refusal: read };
  await library.ready();
  const isThere = (name: string) => library.get(name) !== undefined;
  const refusal = findDeclinedSkill(ledger, isThere, draft) ?? same ?? repeatOf(parts, draft);
  if (refusal) return { draft, refusal };
  const checked = checkSkillChange(library, draft.target, read.value);
  if (!checked.ok) return { draft, refusal: checked };
  const { hash } = checked.value;
  const texts = readSkillTexts(library.get(draft.target), read.value);
  if (hash === undefined) return { draft, texts };
  return { draft: { ...draft, change: { ...draft.change, expected_hash: hash } }, texts };
}

/** A new skill whose steps stand in another one is a patch of that one. */
function repeatOf({ library, ledger }: LearningParts, { target, action, change }: ProposalDraft): Why | undefined {
  if (action !== 'create' || typeof change.content !== 'string') return undefined;
  const draft = { name: target, text: change.content };
  const repeats = (kept: string, then: string) => {
    return { reason: 'repeats-skill', detail: `Most of its commands stand in the skill ${kept}${then}` };
  };
  const others = library.list().filter((skill) => skill.writable && skill.name !== target);
  const kept = findRepeated(draft, others);
  if (kept !== undefined) return repeats(kept, `: patch ${kept} instead.`);
  const waiting = ledger.list({ kind: 'skill', status: 'pending' }).filter((one) => one.action === 'create');
  const texts = waiting.map((one) => ({ name: one.target, text: String(one.change.content ?? '') }));
  const offered = findRepeated(draft, texts);
  return offered === undefined ? undefined : repeats(offered, ', which waits for the owner: leave it at that.');
}

/** What the change would replace: the gate asks for evidence of what is new alone. */
function textsBefore({ memory, library }: LearningParts, { kind, target, change }: Proposal): readonly string[] {
  if (kind === 'skill') return [library.get(target)?.text ?? ''];
  return entriesOf(memory, change);
}

function entriesOf(memory: MemoryFiles, change: Proposal['change']): readonly string[] {
  const state = memory.read(memoryTarget(change));
  return state.ok ? state.value.entries : [];
}

function isAgentMade({ library }: LearningParts, { kind, target }: Proposal): boolean {
  if (kind !== 'skill') return true;
  const record = library.record(target);
  return record?.createdBy === 'agent' && !record.pinned;
}

async function decided(
  { ledger, pending }: LearningParts,
  proposal: Proposal,
  status: 'pending' | 'refused',
  { reason, detail }: Why,
): Promise<Kept> {
  await ledger.decide(proposal.id, { status, reason, detail });
  const now = ledger.get(proposal.id) ?? proposal;
  if (status === 'pending') pending.put(now);
  return { status, proposal: now, reason, detail };
}

export type KeepWay = 'apply' | 'draft';

interface KeepSituation {
  /** A person sits at the surface of the session. */
  readonly attended: boolean;
  /** `skills.write_approval`: what unattended surfaces do. */
  readonly unattended: KeepWay;
  /** The owner said `always` to new skills. */
  readonly alwaysCreate: boolean;
  /** Made by a rule that only copies, counts or cuts the owner's words and recorded calls: there is nothing to judge. */
  readonly byRule?: boolean;
}

/** `agentMade`: an agent made the skill, and it is not pinned. */
export function keepWay(
  { kind, action }: Pick<ProposalDraft, 'kind' | 'action'>,
  { attended, unattended, alwaysCreate }: KeepSituation,
  agentMade: boolean,
): KeepWay {
  if (kind === 'memory') return 'apply';
  if (action === 'create') return alwaysCreate ? 'apply' : attended ? 'draft' : unattended;
  if (action === 'delete' || !agentMade) return 'draft';
  return attended ? 'apply' : unattended;
}

function readSkillChange(change: JsonObject): Result<SkillChange, 'incomplete'> {
  const parsed = skillManageInput.safeParse(change);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const what = issue ? issueText(issue) : 'not readable';
    return refuse('incomplete', `${issue?.path.join('.') ?? 'arguments'}: ${what}`);
  }
  const asked = readAsked(parsed.data);
  return asked.ok ? ok(asked.value.change) : asked;
}

function readSkillTexts(skill: Skill | undefined, change: SkillChange): Pick<ChangeOptions, 'skill'> {
  const tree = skill === undefined ? undefined : readSkillTree(skill.folder);
  if (tree?.ok === false) return {};
  const changed = changeSkill(tree?.value, change);
  if (!changed.ok || changed.path !== SKILL_FILE || changed.after === undefined) return {};
  const read = (files: SkillTree | undefined) => {
    const parsed = parseSkill(textOf(files?.get(SKILL_FILE)) ?? '');
    return parsed.ok ? parsed : undefined;
  };
  const [before, after] = [read(tree?.value), read(changed.after)];
  return after === undefined ? {} : { skill: { after, ...(before === undefined ? {} : { before }) } };
}

export async function settleOutcomes(parts: LearningParts, outcomes: readonly Kept[]): Promise<void> {
  for (const kept of outcomes) {
    if (kept.status === 'refused') parts.log('proposal-refused', `${kept.proposal.id} ${kept.reason}: ${kept.detail}`);
    if (kept.status === 'pending') parts.log('proposal-pending', `${kept.proposal.id} ${kept.reason}`);
  }
  for (const kept of outcomes) if (kept.status === 'applied') await spread(parts, kept.proposal);
}

/** Also after the owner's yes. */
export async function spread({ mirror, library }: LearningParts, proposal: Proposal): Promise<void> {
  if (proposal.kind === 'skill') return void (await library.refresh());
  for (const notice of writtenNotices(proposal.sessionId ?? '', { ...proposal.change, target: proposal.target }))
    await mirror(notice);
}

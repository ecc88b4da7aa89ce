// Owns what waits for the owner: offers, the yes, the no, and taking back what was announced. Knows no surface and no gate.
// Invariants: a yes writes through the same doors as everything else; what waits is never lost by a refusal that time may mend.
import { ok, type Result, refuse } from '#base/result.ts';
import type { Proposal, ProposalLedger } from '#mind/evidence/proposal.ts';
import { undoMemoryWrite } from '#mind/memory/journal/undo-memory-write.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';
import type { AcceptOptions, AcceptReason, LearningOffer } from '../learning.ts';
import type { Announcements } from './announcements.ts';
import type { Consents } from './consents.ts';
import { doneLine, offerLine, offerText } from './describe-change.ts';
import { applyProposal, type KeepDoors } from './keep-proposal.ts';

export interface PendingDesk {
  offers(): readonly LearningOffer[];
  accept(id: string, options?: AcceptOptions, signal?: AbortSignal): Promise<Result<string, AcceptReason>>;
  reject(id: string): Promise<Result<string, AcceptReason>>;
  undoLast(sessionId?: string): Promise<Result<string, 'nothing-to-undo' | (string & {})>>;
}

export interface PendingParts {
  readonly doors: KeepDoors & {
    readonly skills: KeepDoors['skills'] & { readonly door: SkillDoor };
  };
  readonly consents: Consents;
  readonly announcements: Announcements;
  /** Told of what was kept by a yes. */
  readonly accepted: (proposal: Proposal) => void;
}

/** Refusals that another try may mend: the proposal waits on. */
const MENDABLE: ReadonlySet<string> = new Set(['over_limit', 'drift', 'unreadable']);

export function createPendingDesk(parts: PendingParts): PendingDesk {
  const { doors, consents } = parts;
  return {
    offers: () => {
      const waiting = doors.ledger.list({ status: 'pending' }).filter(({ reason }) => reason === 'needs-owner');
      return waiting.toReversed().map((one) => ({ id: one.id, line: offerLine(one), text: offerText(one) }));
    },
    accept: async (id, options, signal) => {
      const found = findPending(doors.ledger, id);
      if (!found.ok) return found;
      if (options?.always === true && found.value.kind === 'skill') await consents.give('create-skills');
      return accept(parts, found.value, signal);
    },
    reject: async (id) => {
      const found = findPending(doors.ledger, id);
      if (!found.ok) return found;
      await doors.ledger.decide(id, { status: 'rejected', reason: 'owner-said-no' });
      doors.pending.drop(found.value);
      return ok(`Dropped: ${found.value.target}`);
    },
    undoLast: (sessionId) => undoLast(parts, sessionId),
  };
}

function findPending(ledger: ProposalLedger, id: string): Result<Proposal, 'no-such-proposal' | 'not-pending'> {
  const proposal = ledger.get(id);
  if (!proposal)
    return refuse('no-such-proposal', `Nothing called ${id} waits; "talaria pending list" shows what does.`);
  if (proposal.status === 'pending') return ok(proposal);
  return refuse('not-pending', `${id} does not wait any more: ${proposal.status}.`);
}

async function accept(
  parts: PendingParts,
  proposal: Proposal,
  signal?: AbortSignal,
): Promise<Result<string, AcceptReason>> {
  const { doors } = parts;
  if (proposal.action === 'install') return acceptInstall(parts, proposal, signal);
  // The owner's word stands behind it now; who proposed it stays in the row.
  const done = await applyProposal(doors, proposal, { actor: 'agent', ...(signal ? { signal } : {}) });
  if (done.status === 'applied') {
    parts.announcements.told(proposal.id);
    parts.accepted(done.proposal);
    return ok(done.line);
  }
  if (done.status === 'pending') return refuse(done.reason, done.proposal.detail ?? 'It still waits.');
  if (MENDABLE.has(done.reason)) await waitOn(doors, proposal);
  return refuse(done.reason, done.detail);
}

/** The door installs under a row of its own; `force` is what the owner's yes to the guard's question means. */
async function acceptInstall(
  { doors, accepted }: PendingParts,
  { id, target, change }: Proposal,
  signal?: AbortSignal,
): Promise<Result<string, AcceptReason>> {
  const { from, source, category } = change;
  const known = (['trusted', 'community', 'import'] as const).find((one) => one === source);
  if (typeof from !== 'string' || known === undefined)
    return refuse('not-pending', `${id} cannot be installed from here; install it again by its place.`);
  const place = typeof category === 'string' && category !== '' ? { category } : {};
  const request = { from, name: target, source: known, approved: true, force: true, ...place } as const;
  const done = await doors.skills.door.install(request, signal);
  if (!done.ok) return refuse(done.reason, done.detail);
  await doors.ledger.decide(id, { status: 'dropped', reason: 'superseded', detail: done.value.proposalId });
  const installed = doors.ledger.get(done.value.proposalId);
  if (installed) accepted(installed);
  return ok(`Installed the skill ${target}`);
}

/** A decided row stays decided; the change waits under a new one. */
async function waitOn({ ledger, pending }: KeepDoors, proposal: Proposal): Promise<void> {
  const { kind, actor, target, action, change, sessionId, citations, reason = 'needs-owner' } = proposal;
  const draft = { kind, actor, target, action, change, citations, ...(sessionId === undefined ? {} : { sessionId }) };
  const again = await ledger.open(draft);
  await ledger.decide(again.id, { status: 'pending', reason });
  pending.put({ ...again, status: 'pending', reason });
}

async function undoLast({ doors, announcements }: PendingParts, sessionId?: string): Promise<Result<string>> {
  const [proposal] = announcements.undoable(sessionId);
  if (proposal === undefined) return refuse('nothing-to-undo', 'Nothing was kept that could be taken back.');
  const undone = proposal.kind === 'memory' ? await undoMemory(doors, proposal) : await undoSkill(doors, proposal);
  if (!undone.ok) return undone;
  announcements.undone(proposal.id);
  return ok(`Taken back: ${doneLine(proposal)}`);
}

async function undoMemory({ memory, ledger }: KeepDoors, { id }: Proposal): Promise<Result<unknown>> {
  return undoMemoryWrite({ files: memory, ledger }, id);
}

async function undoSkill({ skills }: PendingParts['doors'], { id, target }: Proposal): Promise<Result<unknown>> {
  const version = skills.door.versions(target).find((one) => one.proposalId === id)?.version;
  return skills.door.rollback({ skill: target, ...(version === undefined ? {} : { version }) });
}

// Owns what waits for the owner: offers, the yes and the no. Knows no surface and no gate.
// Invariants: a yes writes through the same doors as everything else; what waits is never lost by a refusal that time may mend.
import { ok, type Result, refuse } from '#base/result.ts';
import type { Proposal, ProposalLedger } from '#mind/evidence/proposal.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';
import type { AcceptOptions, AcceptReason, LearningOffer } from '../learning.ts';
import type { Announcements } from './announcements.ts';
import type { Consents } from './consents.ts';
import { offerLine, offerText } from './describe-change.ts';
import { applyProposal, type KeepDoors } from './keep-proposal.ts';

export interface PendingDesk {
  offers(): readonly LearningOffer[];
  accept(id: string, options?: AcceptOptions, signal?: AbortSignal): Promise<Result<string, AcceptReason>>;
  reject(id: string): Promise<Result<string, AcceptReason>>;
}

export interface PendingParts {
  readonly doors: KeepDoors & {
    readonly skills: KeepDoors['skills'] & { readonly door: SkillDoor };
  };
  readonly consents: Consents;
  readonly announcements: Announcements;
  /** Told of what was kept by a yes. */
  readonly accepted: (proposal: Proposal) => void;
  /** Told that a draft is decided, or waits on under another row. */
  readonly settled: (id: string, end: DraftEnd) => Promise<void>;
}

export type DraftEnd = { readonly kept: boolean } | { readonly waitsAs: string };

const ALWAYS = 'New skills are kept unasked from now on; /pending always off asks again.';

/** Refusals that another try may mend: the proposal waits on. */
const MENDABLE: ReadonlySet<string> = new Set(['over_limit', 'drift', 'unreadable', 'hash-mismatch']);

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
      const done = await accept(parts, found.value, signal);
      return done.ok && options?.always === true ? ok(`${done.value}. ${ALWAYS}`) : done;
    },
    reject: async (id) => {
      const found = findPending(doors.ledger, id);
      if (!found.ok) return found;
      await doors.ledger.decide(id, { status: 'rejected', reason: 'owner-said-no' });
      doors.pending.drop(found.value);
      await parts.settled(id, { kept: false });
      return ok(`Dropped: ${found.value.target}`);
    },
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
    await parts.settled(proposal.id, { kept: true });
    parts.accepted(done.proposal);
    return ok(done.line);
  }
  if (done.status === 'pending')
    return refuse(done.reason, waits(done.proposal.detail ?? 'It was not made.', proposal.id));
  const waitsAs = MENDABLE.has(done.reason) ? await waitOn(doors, proposal) : undefined;
  await parts.settled(proposal.id, waitsAs === undefined ? { kept: false } : { waitsAs });
  const detail = done.reason === 'hash-mismatch' ? editedSince(proposal.target, waitsAs ?? proposal.id) : done.detail;
  return refuse(done.reason, waitsAs === undefined ? `It was refused and dropped: ${detail}` : waits(detail, waitsAs));
}

function waits(detail: string, id: string): string {
  return `${detail} It waits on as ${id}.`;
}

function editedSince(name: string, id: string): string {
  const look = `\`talaria skills diff ${name}\` and \`talaria pending show ${id}\` show both`;
  return `${name} was edited since the draft was made; ${look}.`;
}

/** The door installs under a row of its own; `force` is what the owner's yes to the guard's question means. */
async function acceptInstall(
  { doors, accepted, announcements }: PendingParts,
  { id, target, change }: Proposal,
  signal?: AbortSignal,
): Promise<Result<string, AcceptReason>> {
  const { from, source, category } = change;
  const known = (['trusted', 'community', 'import'] as const).find((one) => one === source);
  if (typeof from !== 'string' || known === undefined)
    return refuse('not-pending', waits(`${id} cannot be installed from here; install it again by its place.`, id));
  const place = typeof category === 'string' && category !== '' ? { category } : {};
  const request = { from, name: target, source: known, approved: true, force: true, ...place } as const;
  const done = await doors.skills.door.install(request, signal);
  if (!done.ok) return refuse(done.reason, waits(done.detail, id));
  await doors.ledger.decide(id, { status: 'dropped', reason: 'superseded', detail: done.value.proposalId });
  const installed = doors.ledger.get(done.value.proposalId);
  announcements.told(done.value.proposalId);
  if (installed) accepted(installed);
  return ok(`Installed the skill ${target}`);
}

/** A decided row stays decided; the change waits under a new one, whose id this gives. */
async function waitOn({ ledger, pending }: KeepDoors, proposal: Proposal): Promise<string> {
  const { kind, actor, target, action, change, sessionId, citations, reason = 'needs-owner' } = proposal;
  const draft = { kind, actor, target, action, change, citations, ...(sessionId === undefined ? {} : { sessionId }) };
  const again = await ledger.open(draft);
  await ledger.decide(again.id, { status: 'pending', reason });
  pending.put({ ...again, status: 'pending', reason });
  return again.id;
}

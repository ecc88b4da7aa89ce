// Owns what the owner decides: offers, the yes and the no, news of what was written, `/undo`, the standing yes to new skills.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Actor, Proposal, ProposalLedger } from '#mind/evidence/proposal.ts';
import { undoMemoryWrite } from '#mind/memory/mend-memory.ts';
import { doneLine, heldLine, offerLine, offerText, takenBackLine } from './drafts.ts';
import { applyProposal, type LearningParts, spread } from './keep-proposal.ts';
import type { AcceptReason, Learning } from './learning.ts';
import type { ReviewRows } from './reviews.ts';

export type OwnersDesk = Pick<
  Learning,
  'offers' | 'accept' | 'reject' | 'undoable' | 'undoLast' | 'announcements' | 'keepsNewSkills' | 'keepNewSkills'
>;

interface Desk extends LearningParts {
  readonly rows: Pick<ReviewRows, 'draftDecided'>;
  readonly said: Announcements;
}

const ALWAYS = 'New skills are kept unasked from now on; /pending always off asks again.';

/** Refusals that another try may mend: the proposal waits on. */
const MENDABLE: ReadonlySet<string> = new Set(['over_limit', 'drift', 'unreadable', 'hash-mismatch']);

export function createOwnersDesk(parts: LearningParts, rows: Desk['rows']): OwnersDesk {
  const { ledger, clock } = parts;
  const { database } = parts.store;
  const desk: Desk = { ...parts, rows, said: createAnnouncements({ ledger, database, clock }) };
  const keepNewSkills = async (isKept: boolean) => {
    const sql = isKept
      ? 'INSERT OR IGNORE INTO consents(name, at) VALUES(?, ?)'
      : 'DELETE FROM consents WHERE name = ?';
    await database.transaction(() => database.run(sql, 'create-skills', ...(isKept ? [clock.now()] : [])));
  };
  return {
    offers: () => {
      const waiting = ledger.list({ status: 'pending' }).filter(({ reason }) => reason === 'needs-owner');
      return waiting.toReversed().map((one) => ({ id: one.id, line: offerLine(one), text: offerText(one) }));
    },
    accept: async (id, options, signal) => {
      const found = findPending(ledger, id);
      if (!found.ok) return found;
      if (options?.always === true && found.value.kind === 'skill') await keepNewSkills(true);
      const done = await accept(desk, found.value, signal);
      return done.ok && options?.always === true ? ok(`${done.value}. ${ALWAYS}`) : done;
    },
    reject: async (id) => {
      const found = findPending(ledger, id);
      if (!found.ok) return found;
      await ledger.decide(id, { status: 'rejected', reason: 'owner-said-no' });
      parts.pending.drop(found.value);
      await rows.draftDecided(id, { kept: false });
      return ok(`Dropped: ${found.value.target}`);
    },
    undoable: (sessionId) => {
      const known = nextToUndo(desk, sessionId);
      return known && { at: known.at, isHere: known.isHere, line: doneLine(known.proposal) };
    },
    undoLast: (sessionId) => takeBackLast(desk, sessionId),
    announcements: (sessionId) => desk.said.take(sessionId),
    keepsNewSkills: () => database.get("SELECT 1 FROM consents WHERE name = 'create-skills'") !== undefined,
    keepNewSkills,
  };
}

function findPending(ledger: ProposalLedger, id: string): Result<Proposal, 'no-such-proposal' | 'not-pending'> {
  const proposal = ledger.get(id);
  if (!proposal)
    return refuse('no-such-proposal', `Nothing called ${id} waits; "talaria pending list" shows what does.`);
  if (proposal.status === 'pending') return ok(proposal);
  return refuse('not-pending', `${id} does not wait any more: ${proposal.status}.`);
}

async function accept(desk: Desk, proposal: Proposal, signal?: AbortSignal): Promise<Result<string, AcceptReason>> {
  if (proposal.action === 'install') return acceptInstall(desk, proposal, signal);
  // The owner's word stands behind it now; who proposed it stays in the row.
  const done = await applyProposal(desk, proposal, 'agent', signal);
  if (done.status === 'applied') {
    await desk.rows.draftDecided(proposal.id, { kept: true });
    spreadLater(desk, done.proposal);
    return ok(done.line);
  }
  const waits = (detail: string, id: string) => refuse(done.reason, `${detail} It waits on as ${id}.`);
  if (done.status === 'pending') return waits(done.proposal.detail ?? 'It was not made.', proposal.id);
  const waitsAs = MENDABLE.has(done.reason) ? await waitOn(desk, proposal) : undefined;
  await desk.rows.draftDecided(proposal.id, waitsAs === undefined ? { kept: false } : { waitsAs });
  const detail = done.reason === 'hash-mismatch' ? editedSince(proposal.target, waitsAs ?? proposal.id) : done.detail;
  return waitsAs === undefined ? refuse(done.reason, `It was refused and dropped: ${detail}`) : waits(detail, waitsAs);
}

/** The owner knows of it: it was kept by a yes. */
function spreadLater(desk: Desk, proposal: Proposal): void {
  desk.said.told(proposal.id);
  desk.background.hold('spread a kept change', spread(desk, proposal));
}

function editedSince(name: string, id: string): string {
  const look = `\`talaria skills diff ${name}\` and \`talaria pending show ${id}\` show both`;
  return `${name} was edited since the draft was made; ${look}.`;
}

/** The door installs under a row of its own; `force` is what the owner's yes to the guard's question means. */
async function acceptInstall(
  desk: Desk,
  { id, target, change }: Proposal,
  signal?: AbortSignal,
): Promise<Result<string, AcceptReason>> {
  const { ledger, door } = desk;
  const { from, source, category } = change;
  const known = (['trusted', 'community', 'import'] as const).find((one) => one === source);
  if (typeof from !== 'string' || known === undefined)
    return refuse(
      'not-pending',
      `${id} cannot be installed from here; install it again by its place. It waits on as ${id}.`,
    );
  const place = typeof category === 'string' && category !== '' ? { category } : {};
  const request = { from, name: target, source: known, approved: true, force: true, ...place } as const;
  const done = await door.install(request, signal);
  if (!done.ok) return refuse(done.reason, `${done.detail} It waits on as ${id}.`);
  const { proposalId } = done.value;
  await ledger.decide(id, { status: 'dropped', reason: 'superseded', detail: proposalId });
  const installed = ledger.get(proposalId);
  if (installed) spreadLater(desk, installed);
  return ok(`Installed the skill ${target}`);
}

/** A decided row stays decided; the change waits under a new one, whose id this gives. */
async function waitOn({ ledger, pending }: LearningParts, proposal: Proposal): Promise<string> {
  const { kind, actor, target, action, change, sessionId, citations, reason = 'needs-owner' } = proposal;
  const draft = { kind, actor, target, action, change, citations, ...(sessionId === undefined ? {} : { sessionId }) };
  const again = await ledger.open(draft);
  await ledger.decide(again.id, { status: 'pending', reason });
  pending.put({ ...again, status: 'pending', reason });
  return again.id;
}

/** Refusals that stay as they are, however often it is tried. */
const FINAL: ReadonlySet<string> = new Set([
  'target-changed',
  'nothing-to-undo',
  'no-such-version',
  'backup-not-found',
  'manifest-changed',
]);

function nextToUndo({ said, door }: Desk, sessionId?: string): KnownWrite | undefined {
  const stands = ({ kind, id, target }: Proposal) =>
    kind === 'memory' || door.versions(target).some((one) => one.proposalId === id && one.rolledBackAt === undefined);
  return said.undoable(sessionId).find(({ proposal }) => stands(proposal));
}

/** Gives one sentence. */
async function takeBackLast(desk: Desk, sessionId?: string): ReturnType<Learning['undoLast']> {
  const { memory, ledger } = desk;
  const proposal = nextToUndo(desk, sessionId)?.proposal;
  if (proposal === undefined) return refuse('nothing-to-undo', 'Nothing was kept lately that could be taken back.');
  const undone: Result<unknown> =
    proposal.kind === 'memory'
      ? await undoMemoryWrite({ files: memory, ledger }, proposal.id)
      : await undoSkill(desk, proposal);
  if (undone.ok || FINAL.has(undone.reason)) desk.said.undone(proposal.id);
  return undone.ok ? ok(takenBackLine(proposal)) : undone;
}

async function undoSkill({ door, library }: Desk, { id, target }: Proposal): Promise<Result<unknown>> {
  const versions = door.versions(target);
  const version = versions.find((one) => one.proposalId === id)?.version;
  const undone = await door.rollback({ skill: target, ...(version === undefined ? {} : { version }) });
  if (undone.ok) await library.refresh();
  if (undone.ok || undone.reason !== 'target-changed' || version === undefined) return undone;
  const later = versions.filter(
    (one) => one.version > version && one.rolledBackAt === undefined && one.action !== 'rollback',
  );
  const [newest] = later.toSorted((a, b) => b.version - a.version);
  if (newest === undefined) return undone;
  // Not final: that one can be undone first.
  const who = newest.actor === 'owner' ? 'you' : `the ${newest.actor}`;
  return refuse(
    'later-version',
    `Nothing was undone: ${who} changed ${target} since (version ${newest.version}); \`talaria skills rollback ${target}\` undoes that first.`,
  );
}

/** What is said to the owner about writes of reviews and flushes, and which writes an undo may mean. */
export interface Announcements {
  /** Lines not said yet, oldest first; those of other sessions stay when one is named. */
  take(sessionId?: string): readonly string[];
  /** The owner knows of it already. */
  told(id: string): void;
  /**
   * The likeliest first: what the owner heard of here or what this session brought, newest first; then what was heard of in other chats, and
   * what the agent itself wrote there lately.
   */
  undoable(sessionId?: string): readonly KnownWrite[];
  /** Is never meant again, also after a restart. */
  undone(id: string): void;
}

export interface KnownWrite {
  readonly proposal: Proposal;
  /** When the owner came to know of it, epoch ms, as far as is known. */
  readonly at: number;
  /** Heard of here, or brought by this session. */
  readonly isHere: boolean;
}

/** Who writes while nobody looks on. */
const UNSEEN: readonly Actor[] = ['review', 'flush'];
/** What is older than this is no news. */
const NEWS_MS = 7 * 86_400_000;
const LOOKED_AT = 30;

interface SayingParts {
  readonly ledger: ProposalLedger;
  readonly database: Database;
  readonly clock: Clock;
}

export function createAnnouncements(parts: SayingParts): Announcements {
  const { ledger, database, clock } = parts;
  /** What was told by this process, and when. */
  const saidAt = new Map<string, number>();
  const gone = new Set<string>();
  /** While another process writes a row is left out: at worst it is said once more after a restart. */
  const note = (table: 'announced' | 'taken_back', id: string) =>
    database.tryRun(`INSERT OR IGNORE INTO ${table}(proposal, at) VALUES(?, ?)`, id, clock.now());
  const isNoted = (table: 'announced' | 'taken_back', id: string) =>
    database.get(`SELECT 1 FROM ${table} WHERE proposal = ?`, id) !== undefined;
  const told = (id: string) => {
    saidAt.set(id, clock.now());
    note('announced', id);
  };
  const isNews = (one: Proposal) =>
    clock.now() - timeOf(one) < NEWS_MS && !saidAt.has(one.id) && !isNoted('announced', one.id);
  return {
    told,
    take: (sessionId) => {
      const done = recentWrites(ledger, 'applied', sessionId).filter(isNews);
      const held = recentWrites(ledger, 'pending', sessionId).filter(
        (one) => one.reason !== 'needs-owner' && isNews(one),
      );
      const more = held.length - LOOKED_AT;
      const lines = [
        ...done.toReversed().map((one) => `${doneLine(one)} · /undo takes it back`),
        ...held.slice(0, LOOKED_AT).toReversed().map(heldLine),
        ...(more > 0 ? [`… and ${more} more wait · talaria pending list`] : []),
      ];
      for (const { id } of [...done.toReversed(), ...held.toReversed()]) told(id);
      return lines;
    },
    undoable: (sessionId) => {
      const known = [...knownWrites(parts, saidAt, sessionId)]
        .filter(([{ id }]) => !gone.has(id) && !isNoted('taken_back', id))
        .toSorted(([, a], [, b]) => b - a)
        .map(([proposal, at]): KnownWrite => {
          const isOwn = sessionId !== undefined && proposal.sessionId === sessionId;
          return { proposal, at, isHere: saidAt.has(proposal.id) || isOwn };
        });
      return [...known.filter((one) => one.isHere), ...known.filter((one) => !one.isHere)];
    },
    undone: (id) => {
      gone.add(id);
      note('taken_back', id);
    },
  };
}

/** Each with the time at which the owner came to know of it, as far as is known. */
function* knownWrites(
  { ledger, database, clock }: SayingParts,
  saidAt: ReadonlyMap<string, number>,
  sessionId: string | undefined,
): Generator<readonly [Proposal, number]> {
  const rows = database.all<{ proposal: string; at: number }>(
    'SELECT proposal, at FROM announced ORDER BY at DESC LIMIT ?',
    LOOKED_AT,
  );
  const heard = new Map([...rows.map(({ proposal, at }) => [proposal, at] as const), ...saidAt]);
  for (const [id, at] of [...heard].toReversed()) {
    const proposal = ledger.get(id);
    if (proposal?.status === 'applied') yield [proposal, Math.max(at, timeOf(proposal))];
  }
  const unheard = sessionId === undefined ? [] : recentWrites(ledger, 'applied', sessionId);
  const own = ledger.list({ status: 'applied', actor: 'agent', limit: LOOKED_AT });
  const late = own.filter((one) => one.sessionId === sessionId || clock.now() - timeOf(one) < NEWS_MS);
  for (const proposal of [...unheard, ...late]) if (!heard.has(proposal.id)) yield [proposal, timeOf(proposal)];
}

/** Of what waits all, since what is not said is counted. */
function recentWrites(
  ledger: ProposalLedger,
  status: 'applied' | 'pending',
  sessionId: string | undefined,
): readonly Proposal[] {
  const some = {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(status === 'applied' && { limit: LOOKED_AT }),
  };
  const found = UNSEEN.flatMap((actor) => ledger.list({ status, actor, ...some }));
  return found.toSorted((a, b) => timeOf(b) - timeOf(a));
}

function timeOf({ decidedAt, createdAt }: Proposal): number {
  return decidedAt ?? createdAt;
}

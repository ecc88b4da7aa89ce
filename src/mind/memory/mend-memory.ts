// Owns mending at start-up what a killed process left of memory writes (design 2), and putting back what one write changed.
import { type Clock, systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { textsOf } from '#base/json.ts';
import { withFileLock } from '#base/platform.ts';
import { type Ok, type Refusal, refuse } from '#base/result.ts';
import { type MemoryOperation, outcomeByHash, type Proposal, type ProposalLedger } from '#mind/evidence/proposal.ts';
import {
  MEMORY_TARGETS,
  type MemoryFiles,
  type MemoryRefusal,
  type MemoryTarget,
  type MemoryWritten,
} from './memory-files.ts';
import { hashFile, keptEntry } from './memory-journal.ts';

const LOCK_WAIT_MS = 300;
/** After this long nobody is about to write a proposal that was only opened. */
const FORGOTTEN_MS = 600_000;

/** Gives the proposals that were decided here. */
export async function reconcileMemory(
  files: MemoryFiles,
  ledger: ProposalLedger,
  clock: Clock = systemClock,
): Promise<readonly Proposal[]> {
  const decided: Proposal[] = [];
  for (const proposal of ledger.list({ kind: 'memory', status: 'writing' })) {
    if (await mendLocked(files, ledger, proposal, clock)) decided.push(proposal);
  }
  const before = clock.now() - FORGOTTEN_MS;
  const opened = ledger.list({ kind: 'memory', status: 'proposed' }).filter(({ createdAt }) => createdAt < before);
  for (const { id } of opened) await ledger.decide(id, { status: 'dropped', reason: 'interrupted' });
  return [...decided, ...opened].flatMap(({ id }) => ledger.get(id) ?? []);
}

async function mendLocked(
  files: MemoryFiles,
  ledger: ProposalLedger,
  proposal: Proposal,
  clock: Clock,
): Promise<boolean> {
  const { id, path } = proposal;
  if (path === undefined) return false;
  const mend = async (): Promise<boolean> => {
    if (ledger.get(id)?.status !== 'writing') return false;
    const status = outcomeByHash(proposal, hashFile(path));
    if (status !== 'dropped')
      for (const entry of standing(files, proposal)) await ledger.attach(keptEntry(proposal.target, entry), id);
    const reasons = { applied: {}, dropped: { reason: 'interrupted' }, edited: { reason: 'edited-by-hand' } } as const;
    await ledger.decide(id, { status, ...reasons[status] });
    return true;
  };
  try {
    return await withFileLock(`${path}.lock`, mend, { clock, waitMs: LOCK_WAIT_MS });
  } catch (error) {
    if (errorCode(error) === 'locked') return false;
    throw error;
  }
}

/** Entries of the write that are in the file now. */
function standing(files: MemoryFiles, { target, undo }: Proposal): readonly string[] {
  const known = MEMORY_TARGETS.find((one) => one === target);
  const state = known === undefined ? undefined : files.read(known);
  const added = Array.isArray(undo?.added) ? undo.added : [];
  return state?.ok ? state.value.entries.filter((entry) => added.includes(entry)) : [];
}

type UndoReason = 'no-such-proposal' | 'nothing-to-undo' | 'target-changed';

/** A refusal of the door itself (`over_limit`, …) passes through; the file is untouched then. */
export async function undoMemoryWrite(
  { files, ledger }: { readonly files: MemoryFiles; readonly ledger: ProposalLedger },
  proposalId: string,
  signal?: AbortSignal,
): Promise<Ok<MemoryWritten> | Refusal<UndoReason> | MemoryRefusal> {
  const proposal = ledger.get(proposalId);
  const target = MEMORY_TARGETS.find((one) => one === proposal?.target);
  if (proposal?.kind !== 'memory' || target === undefined) {
    return refuse('no-such-proposal', `There is no write of memory ${proposalId}.`);
  }
  const [added, removed] = [textsOf(proposal.undo?.added), textsOf(proposal.undo?.removed)];
  if (proposal.status !== 'applied' || added.length + removed.length === 0) {
    return refuse('nothing-to-undo', `${proposalId} changed nothing (${proposal.status}).`);
  }
  const changed = findChange(files, target, added, removed);
  if (changed !== undefined) return refuse('target-changed', changed);
  const { sessionId } = proposal;
  return files.apply(target, inverse(added, removed), {
    actor: 'rollback',
    citations: [],
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** What stands in the way, as a sentence. */
function findChange(
  files: MemoryFiles,
  target: MemoryTarget,
  added: readonly string[],
  removed: readonly string[],
): string | undefined {
  const state = files.read(target);
  if (!state.ok) return state.detail;
  const { entries } = state.value;
  const gone = added.find((entry) => !entries.includes(entry));
  if (gone !== undefined) return `The entry "${gone.slice(0, 80)}" was changed or removed since; nothing was undone.`;
  const back = removed.find((entry) => entries.includes(entry));
  return back === undefined ? undefined : `The entry "${back.slice(0, 80)}" is back already; nothing was undone.`;
}

/** What came for what went takes its place again; the rest goes, or comes back at the end. */
function inverse(added: readonly string[], removed: readonly string[]): readonly MemoryOperation[] {
  const pairs = Math.min(added.length, removed.length);
  return [
    ...added
      .slice(0, pairs)
      .map((oldText, at) => ({ action: 'replace', oldText, content: removed[at] ?? '' }) as const),
    ...added.slice(pairs).map((oldText) => ({ action: 'remove', oldText }) as const),
    ...removed.slice(pairs).map((content) => ({ action: 'add', content }) as const),
  ];
}

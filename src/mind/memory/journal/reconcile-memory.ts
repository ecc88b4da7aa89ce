// Owns mending at start-up what a killed process left of memory writes: each becomes applied, dropped, or edited by hand, by the hash
// of the file (design 2). Knows no gate. Invariants: a write that another process has in hand is left to it, since it holds the file's
// lock; a file is never changed here; doing it twice changes nothing.
import { type Clock, systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import type { Proposal, ProposalLedger } from '#mind/evidence/proposal.ts';
import { outcomeByHash } from '#mind/evidence/proposal-rules.ts';
import { MEMORY_TARGETS, type MemoryFiles } from '../memory-files.ts';
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
    if (await mendLocked(files, ledger, { proposal, clock })) decided.push(proposal);
  }
  const before = clock.now() - FORGOTTEN_MS;
  const opened = ledger.list({ kind: 'memory', status: 'proposed' }).filter(({ createdAt }) => createdAt < before);
  for (const { id } of opened) await ledger.decide(id, { status: 'dropped', reason: 'interrupted' });
  return [...decided, ...opened].flatMap(({ id }) => ledger.get(id) ?? []);
}

async function mendLocked(
  files: MemoryFiles,
  ledger: ProposalLedger,
  { proposal, clock }: { readonly proposal: Proposal; readonly clock: Clock },
): Promise<boolean> {
  const { id, path } = proposal;
  if (path === undefined) return false;
  const mend = async (): Promise<boolean> => {
    if (ledger.get(id)?.status !== 'writing') return false;
    await mendProposal(files, ledger, { ...proposal, path });
    return true;
  };
  try {
    return await withFileLock(`${path}.lock`, mend, { clock, waitMs: LOCK_WAIT_MS });
  } catch (error) {
    if (errorCode(error) === 'locked') return false;
    throw error;
  }
}

async function mendProposal(
  files: MemoryFiles,
  ledger: ProposalLedger,
  proposal: Proposal & { readonly path: string },
): Promise<void> {
  const status = outcomeByHash(proposal, hashFile(proposal.path));
  if (status !== 'dropped') {
    for (const entry of standing(files, proposal)) await ledger.attach(keptEntry(proposal.target, entry), proposal.id);
  }
  const reasons = { applied: {}, dropped: { reason: 'interrupted' }, edited: { reason: 'edited-by-hand' } } as const;
  await ledger.decide(proposal.id, { status, ...reasons[status] });
}

/** Entries of the write that are in the file now. */
function standing(files: MemoryFiles, { target, undo }: Proposal): readonly string[] {
  const known = MEMORY_TARGETS.find((one) => one === target);
  const state = known === undefined ? undefined : files.read(known);
  const added = Array.isArray(undo?.added) ? undo.added : [];
  return state?.ok ? state.value.entries.filter((entry) => added.includes(entry)) : [];
}

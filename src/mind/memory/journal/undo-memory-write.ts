// Owns putting back what one memory write changed, as a write of its own. Knows no conversation.
// Invariant: only what the write brought is touched, and only while it stands as it was brought; later writes and edits stay.
import { type Ok, type Refusal, refuse } from '#base/result.ts';
import type { MemoryOperation } from '#mind/evidence/memory-operation.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import {
  MEMORY_TARGETS,
  type MemoryFiles,
  type MemoryRefusal,
  type MemoryTarget,
  type MemoryWritten,
} from '../memory-files.ts';

export type UndoReason = 'no-such-proposal' | 'nothing-to-undo' | 'target-changed';

export interface MemoryDoor {
  readonly files: MemoryFiles;
  readonly ledger: ProposalLedger;
}

/** A refusal of the door itself (`over_limit`, …) passes through; the file is untouched then. */
export async function undoMemoryWrite(
  { files, ledger }: MemoryDoor,
  proposalId: string,
  signal?: AbortSignal,
): Promise<Ok<MemoryWritten> | Refusal<UndoReason> | MemoryRefusal> {
  const proposal = ledger.get(proposalId);
  const target = MEMORY_TARGETS.find((one) => one === proposal?.target);
  if (proposal?.kind !== 'memory' || target === undefined) {
    return refuse('no-such-proposal', `There is no write of memory ${proposalId}.`);
  }
  const { added, removed } = { added: texts(proposal.undo?.added), removed: texts(proposal.undo?.removed) };
  if (proposal.status !== 'applied' || added.length + removed.length === 0) {
    return refuse('nothing-to-undo', `${proposalId} changed nothing (${proposal.status}).`);
  }
  const changed = findChange(files, target, { added, removed });
  if (changed !== undefined) return refuse('target-changed', changed);
  const { sessionId } = proposal;
  return files.apply(target, inverse(added, removed), {
    actor: 'rollback',
    citations: [],
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(signal === undefined ? {} : { signal }),
  });
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** What stands in the way, as a sentence. */
function findChange(
  files: MemoryFiles,
  target: MemoryTarget,
  { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
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

// Owns the record of every memory write: proposal committed, then the file, then applied, with each new entry tied to it (design 2).
// Knows no entry format and no gate. Invariants: a file is replaced only after its row with both hashes is durable; a write that was
// refused or failed is decided and leaves no other trace.
import { existsSync, readFileSync } from 'node:fs';
import { errorCode, errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import type { MemoryOperation } from '#mind/evidence/memory-operation.ts';
import type { Actor, Decision, KeptThing, ProposalLedger } from '#mind/evidence/proposal.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import { actionOf, changeOf } from './memory-change.ts';

export interface MemoryJournal {
  readonly ledger: ProposalLedger;
  /** What a write of this session rests on when its writer names nothing. */
  readonly citationsOf?: (sessionId: string) => readonly Citation[];
}

/** Who writes and why. */
export interface MemoryWriteOptions {
  /** Default `agent`. */
  readonly actor?: Actor;
  readonly sessionId?: string;
  /** Default: what the journal finds for the session. */
  readonly citations?: readonly Citation[];
  /** A proposal that was opened and judged before; else one is opened. */
  readonly proposalId?: string;
  readonly signal?: AbortSignal;
}

export interface PlannedWrite {
  readonly path: string;
  readonly text: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** One write under way. Every method but `run` decides it. */
export interface JournalEntry {
  readonly proposalId: string | undefined;
  /** `replace` puts the file in place. */
  run(write: PlannedWrite, replace: () => void): Promise<void>;
  unchanged(): Promise<void>;
  refused(reason: string, detail: string): Promise<void>;
  failed(error: unknown): Promise<void>;
}

/** The thing that `memory why` asks for. */
export function keptEntry(target: string, text: string): KeptThing {
  return { kind: 'memory', target, key: sha256(text) };
}

/** SHA-256 of the file as it stands; null: it is not there. */
export function hashFile(path: string): string | null {
  return existsSync(path) ? sha256(readFileSync(path)) : null;
}

const NO_JOURNAL: JournalEntry = {
  proposalId: undefined,
  run: async (_, replace) => replace(),
  unchanged: async () => undefined,
  refused: async () => undefined,
  failed: async () => undefined,
};

export async function openEntry(
  journal: MemoryJournal | undefined,
  target: string,
  asked: { readonly operations: readonly MemoryOperation[]; readonly options: MemoryWriteOptions },
): Promise<JournalEntry> {
  if (journal === undefined) return NO_JOURNAL;
  const { ledger } = journal;
  const id = asked.options.proposalId ?? (await ledger.open(draftOf(journal, target, asked))).id;
  return new LedgerEntry(ledger, { id, target });
}

class LedgerEntry implements JournalEntry {
  readonly proposalId: string;
  readonly #ledger: ProposalLedger;
  readonly #target: string;
  #begun: { readonly path: string; readonly afterHash: string } | undefined;

  constructor(ledger: ProposalLedger, { id, target }: { readonly id: string; readonly target: string }) {
    this.#ledger = ledger;
    this.#target = target;
    this.proposalId = id;
  }

  /** The entries that are new are tied before the row is decided: a decided write needs no mending. */
  async run({ path, text, before, after }: PlannedWrite, replace: () => void): Promise<void> {
    const added = after.filter((entry) => !before.includes(entry));
    const removed = before.filter((entry) => !after.includes(entry));
    const hashes = { path, beforeHash: hashFile(path), afterHash: sha256(text), undo: { added, removed } };
    await this.#ledger.begin(this.proposalId, hashes);
    this.#begun = hashes;
    replace();
    for (const entry of added) await this.#ledger.attach(keptEntry(this.#target, entry), this.proposalId);
    await this.#decide({ status: 'applied' });
  }

  unchanged(): Promise<void> {
    return this.#decide({ status: 'dropped', reason: 'unchanged' });
  }

  refused(reason: string, detail: string): Promise<void> {
    return this.#decide({ status: 'refused', reason, detail });
  }

  /** What stands already, and what cannot be decided now, is decided at start-up; the failure itself goes to the caller. */
  async failed(error: unknown): Promise<void> {
    const begun = this.#begun;
    const decision: Decision = { status: 'dropped', reason: errorCode(error) ?? 'failed', detail: errorText(error) };
    try {
      if (begun === undefined || hashFile(begun.path) !== begun.afterHash) await this.#decide(decision);
    } catch {
      return;
    }
  }

  #decide(decision: Decision): Promise<void> {
    return this.#ledger.decide(this.proposalId, decision);
  }
}

function draftOf(
  { citationsOf }: MemoryJournal,
  target: string,
  asked: { readonly operations: readonly MemoryOperation[]; readonly options: MemoryWriteOptions },
): Parameters<ProposalLedger['open']>[0] {
  const { actor = 'agent', sessionId, citations } = asked.options;
  const found = sessionId === undefined || citations !== undefined ? [] : (citationsOf?.(sessionId) ?? []);
  return {
    kind: 'memory',
    actor,
    target,
    action: actionOf(asked.operations),
    change: changeOf(target, asked.operations),
    ...(sessionId === undefined ? {} : { sessionId }),
    citations: citations ?? found,
  };
}

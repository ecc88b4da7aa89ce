// Owns the record of every memory write: proposal committed, then the file, then applied, with each new entry tied to it (design 2); mending at
// start-up what a killed process left; putting back what one write changed.
import { existsSync, readFileSync } from 'node:fs';
import { errorCode, errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { Actor, Decision, KeptThing, MemoryOperation, ProposalLedger } from '#mind/evidence/proposal.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';

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

interface PlannedWrite {
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
  return ledgerEntry(ledger, id, target);
}

function ledgerEntry(ledger: ProposalLedger, proposalId: string, target: string): JournalEntry {
  let begun: { readonly path: string; readonly afterHash: string } | undefined;
  const decide = (decision: Decision) => ledger.decide(proposalId, decision);
  return {
    proposalId,
    /** The entries that are new are tied before the row is decided: a decided write needs no mending. */
    run: async ({ path, text, before, after }, replace) => {
      const added = after.filter((entry) => !before.includes(entry));
      const removed = before.filter((entry) => !after.includes(entry));
      const hashes = { path, beforeHash: hashFile(path), afterHash: sha256(text), undo: { added, removed } };
      await ledger.begin(proposalId, hashes);
      begun = hashes;
      replace();
      for (const entry of added) await ledger.attach(keptEntry(target, entry), proposalId);
      await decide({ status: 'applied' });
    },
    unchanged: () => decide({ status: 'dropped', reason: 'unchanged' }),
    refused: (reason, detail) => decide({ status: 'refused', reason, detail }),
    /** What stands already, and what cannot be decided now, is decided at start-up; the failure itself goes to the caller. */
    failed: async (error) => {
      try {
        if (begun === undefined || hashFile(begun.path) !== begun.afterHash)
          await decide({ status: 'dropped', reason: errorCode(error) ?? 'failed', detail: errorText(error) });
      } catch {
        return;
      }
    },
  };
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

/** As the tool would be called: what a proposal holds and can be applied from later. */
export function changeOf(target: string, operations: readonly MemoryOperation[]): JsonObject {
  const steps = operations.map((operation): JsonObject => {
    const old = operation.action === 'add' ? {} : { old_text: operation.oldText };
    return {
      action: operation.action,
      ...old,
      ...(operation.action === 'remove' ? {} : { content: operation.content }),
    };
  });
  return steps.length === 1 ? { target, ...steps[0] } : { target, operations: steps };
}

/** `add`, `replace`, `remove`, or `batch` of several. */
export function actionOf(operations: readonly MemoryOperation[]): string {
  return operations.length === 1 ? (operations[0]?.action ?? 'batch') : 'batch';
}

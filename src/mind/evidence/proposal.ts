// Owns the shape of everything that anybody wants to keep, from its proposal to its place in a file, which step it may take from which status, what a
// memory change asks for, and the ledger's contract. Knows no memory file and no skill: the doors tell it hashes. Invariants (design 2): proposal
// row committed, then the file by temp and rename, then the row marked applied; start-up reconciles by hash; a final status never changes, and
// `pending` is not final; what is missing in a change is said in one sentence.

import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { VerdictRow } from './proposal-schema.ts';
import type { Citation } from './trace-guard/claim.ts';

export type ProposalKind = 'memory' | 'skill';

/** Who writes: `owner` by a command, `agent` in a foreground turn, the rest unattended. */
export type Actor = 'owner' | 'agent' | 'review' | 'flush' | 'curator' | 'dream' | 'import' | 'install' | 'rollback';

/**
 * `proposed` recorded; `writing` hashes committed, file not known to be replaced; `applied`; `refused` by the gate, the guard or the
 * door (`reason`); `pending` waits for the owner; `rejected` by the owner; `dropped` the write never happened; `edited` the file was
 * edited by hand in the meantime and kept.
 */
export type ProposalStatus =
  | 'proposed'
  | 'writing'
  | 'applied'
  | 'refused'
  | 'pending'
  | 'rejected'
  | 'dropped'
  | 'edited';

export interface ProposalDraft {
  readonly kind: ProposalKind;
  readonly actor: Actor;
  /** Memory: `memory` or `user`. Skill: its name. */
  readonly target: string;
  /** `add`, `replace`, `remove`; `create`, `patch`, `edit`, `delete`, `write_file`, `remove_file`, `install`, `rollback`. */
  readonly action: string;
  /** The whole change, as the arguments of the tool that would make it: enough to apply it later. */
  readonly change: JsonObject;
  readonly sessionId?: string;
  readonly citations: readonly Citation[];
}

export interface Proposal extends ProposalDraft {
  /** `prop_…` */
  readonly id: string;
  readonly status: ProposalStatus;
  /** Reason code of a refusal, or why it is pending: `origin-not-allowed`, `value-not-cited`, `foreign-words`, `goes-beyond`, `not-judged`, `needs-owner`. */
  readonly reason?: string;
  readonly detail?: string;
  /** Absolute path of the file or folder that was written. */
  readonly path?: string;
  readonly beforeHash?: string | null;
  readonly afterHash?: string | null;
  /** What the door needs to put it back; its own form. */
  readonly undo?: JsonObject;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly decidedAt?: number;
}

/** What is about to happen to a file; null: it is not there. SHA-256, hex. */
export interface WriteHashes {
  readonly path: string;
  readonly beforeHash: string | null;
  readonly afterHash: string | null;
  /** Kept with the proposal; for doors that keep no backup of their own. */
  readonly undo?: JsonObject;
}

export interface Decision {
  readonly status: Exclude<ProposalStatus, 'proposed' | 'writing'>;
  readonly reason?: string;
  readonly detail?: string;
}

/** A kept thing whose evidence can be asked for: an entry of a memory file by its text's hash, a skill by name and version. */
export interface KeptThing {
  readonly kind: ProposalKind;
  readonly target: string;
  /** Memory: SHA-256 hex of the entry's text. Skill: the version number as text. */
  readonly key: string;
}

/** A citation with the message as it stands in the store now; `text` is absent when it was forgotten. */
export interface ShownCitation extends Citation {
  readonly sessionId?: string;
  readonly messageId?: number;
  readonly role?: string;
  /** Epoch ms. */
  readonly at?: number;
  readonly text?: string;
}

export interface Provenance {
  readonly proposal: Proposal;
  readonly citations: readonly ShownCitation[];
  /** What a judge said of it, oldest first. */
  readonly verdicts: readonly VerdictRow[];
}

/**
 * Contract. Every promise resolves after a durable commit. `begin` may be called once for a proposal; `decide` is idempotent for an
 * equal decision and throws `proposal-decided` for another. Unknown ids throw `no-such-proposal`.
 */
export interface ProposalLedger {
  open(draft: ProposalDraft): Promise<Proposal>;
  begin(id: string, hashes: WriteHashes): Promise<void>;
  decide(id: string, decision: Decision): Promise<void>;
  /** Ties a kept thing to the proposal that brought it; the newest comes first in `why`. */
  attach(thing: KeptThing, proposalId: string): Promise<void>;
  get(id: string): Proposal | undefined;
  list(filter?: {
    readonly status?: ProposalStatus;
    readonly kind?: ProposalKind;
    readonly actor?: Actor;
    readonly sessionId?: string;
    readonly limit?: number;
  }): readonly Proposal[];
  /** Newest first; empty when nothing is known: then it was written by hand. */
  why(thing: KeptThing): readonly Provenance[];
  /** Start-up: every `writing` row becomes `applied`, `dropped` or `edited` by the hash that `hashOf` finds at its path now. */
  reconcile(hashOf: (path: string) => string | null): Promise<readonly Proposal[]>;
}

const OPEN: readonly ProposalStatus[] = ['proposed', 'pending', 'writing'];

type Decided = Pick<Proposal, 'id' | 'status' | 'reason' | 'detail'>;

/** Throws `no-such-proposal`. */
export function needProposal<T>(proposal: T | undefined, id: string): T {
  if (proposal !== undefined) return proposal;
  throw new TalariaError(`there is no proposal ${id}`, { code: 'no-such-proposal' });
}

/** Throws `proposal-begun` | `proposal-decided`. */
export function checkBegin({ id, status }: Decided): void {
  if (status === 'proposed' || status === 'pending') return;
  if (status === 'writing') throw new TalariaError(`${id} is being written already`, { code: 'proposal-begun' });
  throw new TalariaError(`${id} is decided already: ${status}`, { code: 'proposal-decided' });
}

/** False when the proposal stands decided in the same way. Throws `proposal-decided`. */
export function checkDecision(proposal: Decided, decision: Decision): boolean {
  const { id, status } = proposal;
  const equal =
    status === decision.status && proposal.reason === decision.reason && proposal.detail === decision.detail;
  if (equal) return false;
  if (OPEN.includes(status)) return true;
  throw new TalariaError(`${id} is decided already: ${status}`, { code: 'proposal-decided' });
}

/** What became of a write that was begun, by the file as it is found now. */
export function outcomeByHash(
  hashes: { readonly beforeHash?: string | null; readonly afterHash?: string | null },
  found: string | null,
): 'applied' | 'dropped' | 'edited' {
  if (found === (hashes.afterHash ?? null)) return 'applied';
  return found === (hashes.beforeHash ?? null) ? 'dropped' : 'edited';
}

export type MemoryOperation =
  | { readonly action: 'add'; readonly content: string }
  | { readonly action: 'replace'; readonly oldText: string; readonly content: string }
  | { readonly action: 'remove'; readonly oldText: string };

/** The operations asked for, or what is missing. */
export function operationsOf(change: JsonObject): readonly MemoryOperation[] | string {
  const batch = Array.isArray(change.operations) ? change.operations : [];
  if (batch.length > 0 && change.action !== undefined) return 'Give either action or operations, not both.';
  const steps = batch.length > 0 ? batch : [change];
  const read: MemoryOperation[] = [];
  for (const [index, one] of steps.entries()) {
    const operation = isJsonObject(one) ? readOperation(one) : 'it is no operation.';
    if (typeof operation === 'string')
      return steps.length > 1 ? `operations[${index}]: ${operation} Nothing changed.` : operation;
    read.push(operation);
  }
  return read;
}

function readOperation(one: JsonObject): MemoryOperation | string {
  const { action, old_text: oldText } = one;
  const content = one.content ?? one.new_text;
  if (action !== 'add' && action !== 'replace' && action !== 'remove')
    return 'action is missing: add, replace or remove.';
  if (action !== 'add' && typeof oldText !== 'string') return `${action} needs old_text, a unique piece of the entry.`;
  const old = typeof oldText === 'string' ? oldText : '';
  if (action === 'remove') return { action, oldText: old };
  if (typeof content !== 'string') return `${action} needs content.`;
  return action === 'add' ? { action, content } : { action, oldText: old, content };
}

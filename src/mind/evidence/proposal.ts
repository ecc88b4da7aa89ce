// Owns the shape of everything that anybody wants to keep, from its proposal to its place in a file, and the ledger's contract.
// Knows no memory file and no skill: the doors tell it hashes. Invariant (design 2): proposal row committed, then the file by temp
// and rename, then the row marked applied; start-up reconciles by hash.
import type { JsonObject } from '#base/json.ts';
import type { VerdictRow } from './judge/verdict-rows.ts';
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

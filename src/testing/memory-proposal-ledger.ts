// Owns a ProposalLedger without a disk, for tests of what stands above it. Invariant: it passes the contract suite of ProposalLedger;
// everything given and kept is copied, so nobody can change the past.
import { type Clock, systemClock } from '#base/clock.ts';
import { newId } from '#base/ids.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { messageIdOf } from '#mind/evidence/message-handle.ts';
import type {
  Decision,
  KeptThing,
  Proposal,
  ProposalDraft,
  ProposalLedger,
  WriteHashes,
} from '#mind/evidence/proposal.ts';
import { checkBegin, checkDecision, needProposal, outcomeByHash } from '#mind/evidence/proposal-rules.ts';
import { redactObject } from '#mind/evidence/redact-json.ts';
import { showCitation } from '#mind/evidence/show-citation.ts';

export interface MemoryProposalLedgerOptions {
  readonly clock?: Clock;
  /** The stored message with this id, for `why`. Default: none is known. */
  readonly messageOf?: (id: number) => StoredMessage | undefined;
}

export function createMemoryProposalLedger(options: MemoryProposalLedgerOptions = {}): ProposalLedger {
  return new MemoryProposalLedger(options);
}

class MemoryProposalLedger implements ProposalLedger {
  readonly #clock: Clock;
  readonly #messageOf: (id: number) => StoredMessage | undefined;
  readonly #proposals = new Map<string, Proposal>();
  #attached: readonly { readonly thing: KeptThing; readonly proposalId: string }[] = [];

  constructor({ clock = systemClock, messageOf = () => undefined }: MemoryProposalLedgerOptions) {
    this.#clock = clock;
    this.#messageOf = messageOf;
  }

  async open(draft: ProposalDraft): Promise<Proposal> {
    const proposal: Proposal = {
      ...structuredClone(draft),
      id: newId('prop'),
      status: 'proposed',
      change: redactObject(draft.change, redactSecrets),
      citations: draft.citations.map(({ handle, quote }) => ({ handle, quote: redactSecrets(quote) })),
      createdAt: this.#clock.now(),
    };
    this.#proposals.set(proposal.id, proposal);
    return structuredClone(proposal);
  }

  async begin(id: string, { path, beforeHash, afterHash, undo }: WriteHashes): Promise<void> {
    const { reason: _reason, detail: _detail, decidedAt: _at, ...open } = this.#need(id);
    checkBegin(open);
    const back = undo === undefined ? {} : { undo: redactObject(undo, redactSecrets) };
    this.#proposals.set(id, { ...open, status: 'writing', path, beforeHash, afterHash, ...back });
  }

  async decide(id: string, decision: Decision): Promise<void> {
    this.#decide(id, decision);
  }

  async attach(thing: KeptThing, proposalId: string): Promise<void> {
    this.#need(proposalId);
    const known = this.#attached.some((one) => one.proposalId === proposalId && isSame(one.thing, thing));
    if (!known) this.#attached = [...this.#attached, { thing: structuredClone(thing), proposalId }];
  }

  get(id: string): Proposal | undefined {
    return structuredClone(this.#proposals.get(id));
  }

  list(filter: Parameters<ProposalLedger['list']>[0] = {}): readonly Proposal[] {
    const { limit, ...wanted } = filter;
    const fits = (proposal: Proposal) =>
      Object.entries(wanted).every(([key, value]) => value === undefined || Reflect.get(proposal, key) === value);
    const newest = [...this.#proposals.values()].reverse().filter(fits);
    return structuredClone(limit === undefined ? newest : newest.slice(0, Math.max(0, Math.trunc(limit))));
  }

  why(thing: KeptThing): ReturnType<ProposalLedger['why']> {
    const attached = this.#attached.filter((one) => isSame(one.thing, thing)).reverse();
    return attached.map(({ proposalId }) => {
      const proposal = structuredClone(this.#need(proposalId));
      const stored = (handle: string) => this.#messageOf(messageIdOf(handle) ?? -1);
      const citations = proposal.citations.map((one) => showCitation(one, stored(one.handle)));
      return { proposal, citations, verdicts: [] };
    });
  }

  async reconcile(hashOf: (path: string) => string | null): Promise<readonly Proposal[]> {
    const writing = [...this.#proposals.values()].filter(({ status }) => status === 'writing');
    return writing.map((proposal) => {
      const status = outcomeByHash(proposal, proposal.path === undefined ? null : hashOf(proposal.path));
      return this.#decide(proposal.id, status === 'edited' ? { status, reason: 'edited-by-hand' } : { status });
    });
  }

  #decide(id: string, { status, reason, detail }: Decision): Proposal {
    const clean: Decision = {
      status,
      ...(reason === undefined ? {} : { reason }),
      ...(detail === undefined ? {} : { detail: redactSecrets(detail) }),
    };
    const { reason: _reason, detail: _detail, ...open } = this.#need(id);
    if (checkDecision(this.#need(id), clean)) {
      this.#proposals.set(id, { ...open, ...clean, decidedAt: this.#clock.now() });
    }
    return structuredClone(this.#need(id));
  }

  #need(id: string): Proposal {
    return needProposal(this.#proposals.get(id), id);
  }
}

function isSame(one: KeptThing, other: KeptThing): boolean {
  return one.kind === other.kind && one.target === other.target && one.key === other.key;
}

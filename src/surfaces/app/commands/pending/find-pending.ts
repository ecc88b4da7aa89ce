// Owns which draft a word means: its id, the beginning of its id, the name of its skill, `last`. Reads the ledger alone.
// Invariant: two drafts are never taken for one.
import { z } from 'zod';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Proposal, ProposalLedger } from '#mind/evidence/proposal.ts';

type NotFound = 'no-such-proposal' | 'ambiguous-proposal';

export const whichPending = z
  .string()
  .default('last')
  .describe('Its id, the beginning of its id, the name of its skill, or `last`');

export const PENDING_LIST = '`talaria pending list` shows what waits.';

export function waitingOf(proposals: ProposalLedger): readonly Proposal[] {
  return proposals.list({ status: 'pending' });
}

export function findPending(proposals: ProposalLedger, name: string): Result<Proposal, NotFound> {
  const found = matching(proposals, name);
  if (!found.ok) return found;
  const [only] = found.value;
  return only !== undefined && found.value.length === 1 ? ok(only) : ambiguous(name, found.value);
}

/** One by its id, all of a name, or all; newest first. */
export function findWaitingOnes(
  proposals: ProposalLedger,
  wanted: { readonly name: string } | { readonly all: true },
): Result<readonly Proposal[], NotFound> {
  if ('all' in wanted) {
    const waiting = waitingOf(proposals);
    return waiting.length === 0 ? refuse('no-such-proposal', 'Nothing waits for you.') : ok(waiting);
  }
  const { name } = wanted;
  const found = matching(proposals, name);
  if (!found.ok || found.value.length === 1 || found.value.every(({ target }) => target === name)) return found;
  return ambiguous(name, found.value);
}

/** At least one. */
function matching(proposals: ProposalLedger, name: string): Result<readonly Proposal[], NotFound> {
  const waiting = waitingOf(proposals);
  const [newest] = waiting;
  if (newest === undefined) return refuse('no-such-proposal', 'Nothing waits for you.');
  if (name === 'last') return ok([newest]);
  const found = waiting.filter(({ id, target }) => id.startsWith(name) || target === name);
  return found.length > 0 ? ok(found) : refuse('no-such-proposal', `Nothing that waits is called ${name}.`);
}

const SHOWN = 8;

function ambiguous(name: string, found: readonly Proposal[]): Result<never, NotFound> {
  const ids = found.slice(0, SHOWN).map(({ id }) => id);
  const more = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : '';
  return refuse('ambiguous-proposal', `${name} could be ${ids.join(', ')}${more}.`);
}

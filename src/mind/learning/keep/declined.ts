// Owns knowing what the owner decided about already: what waits, what got a no, what was taken back. Reads the ledger; writes nothing.
// Invariants: what was said no to, or does not stand any more though it was kept, is not proposed again from the same messages; other
// messages may bring it back.
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { type MemoryOperation, operationsOf } from '#mind/evidence/memory-operation.ts';
import type { Proposal, ProposalDraft, ProposalLedger } from '#mind/evidence/proposal.ts';
import { overlap } from '#mind/memory/match-entries.ts';
import { readSteps } from '../procedure/steps.ts';

export interface Declined {
  readonly reason: 'already-pending' | 'rejected-before' | 'taken-back';
  readonly detail: string;
}

/** Share of words by which two entries say the same. */
const SAME = 0.8;

export interface EntryGround {
  readonly ledger: Pick<ProposalLedger, 'list'>;
  /** What stands in the file that the draft is for. */
  readonly entries: readonly string[];
}

export function findDeclinedEntry(
  { ledger, entries }: EntryGround,
  draft: ProposalDraft,
  operations: readonly MemoryOperation[],
): Declined | undefined {
  const { sessionId } = draft;
  const wanted = textsOf(operations).filter((text) => !entries.includes(text));
  if (sessionId === undefined || wanted.length === 0) return undefined;
  const says = (proposal: Proposal) => {
    const before = operationsOf(proposal.change);
    const texts = typeof before === 'string' ? [] : textsOf(before);
    return isFromSame(draft, proposal) && texts.some((old) => wanted.some((text) => saysSame(text, old, entries)));
  };
  const find = (status: 'rejected' | 'applied') => ledger.list({ kind: 'memory', sessionId, status }).find(says);
  if (find('rejected')) return { reason: 'rejected-before', detail: 'The owner did not want this entry.' };
  return find('applied')
    ? { reason: 'taken-back', detail: 'This was kept from the same messages before, and taken back.' }
    : undefined;
}

function textsOf(operations: readonly MemoryOperation[]): readonly string[] {
  return operations.flatMap((one) => (one.action === 'remove' ? [] : [one.content.trim()]));
}

/** Something that was kept and still stands was not taken back. */
function saysSame(text: string, old: string, entries: readonly string[]): boolean {
  return !entries.includes(old) && (text === old || (overlap(text, old) > SAME && overlap(old, text) > SAME));
}

export interface SkillGround {
  readonly ledger: Pick<ProposalLedger, 'list'>;
  readonly isThere: (name: string) => boolean;
}

/** A new skill that waits already, that the owner did not want, or that was made of these messages and is gone. */
export function findDeclinedSkill({ ledger, isThere }: SkillGround, draft: ProposalDraft): Declined | undefined {
  const { target, action, sessionId } = draft;
  if (action !== 'create') return undefined;
  const find = (status: 'pending' | 'rejected' | 'applied', fits: (one: Proposal) => boolean) =>
    ledger.list({ kind: 'skill', status }).find((one) => one.action === 'create' && fits(one));
  const isNamesake = (one: Proposal) => one.target === target;
  const isTwin = (one: Proposal) =>
    sessionId !== undefined && one.sessionId === sessionId && (restsOn(draft, one) || hasSameSteps(draft, one));
  const waiting = find('pending', (one) => isNamesake(one) || isTwin(one));
  if (waiting) return { reason: 'already-pending', detail: `A skill ${waiting.target} waits for the owner already.` };
  if (find('rejected', (one) => isNamesake(one) || isTwin(one)))
    return { reason: 'rejected-before', detail: `The owner did not want a skill ${target} of this.` };
  return find('applied', (one) => isTwin(one) && !isThere(one.target))
    ? { reason: 'taken-back', detail: `A skill of the same messages was kept before, and taken back.` }
    : undefined;
}

function isFromSame(draft: ProposalDraft, { citations }: Proposal): boolean {
  const cited = new Set(citations.map(({ handle }) => handle));
  return draft.citations.some(({ handle }) => cited.has(handle));
}

/** Under whatever name. */
function hasSameSteps(draft: ProposalDraft, other: Proposal): boolean {
  const [own, others] = [draft, other].map(stepsOf);
  return own !== undefined && own !== '' && own === others;
}

function stepsOf({ change }: ProposalDraft): string {
  const { content } = change;
  return typeof content === 'string'
    ? readSteps(splitFrontMatter(content).body)
        .map(({ source }) => source)
        .join('\n')
    : '';
}

/** Nearly all that the draft cites was cited for the other one. */
function restsOn({ citations }: ProposalDraft, other: Proposal): boolean {
  const cited = new Set(other.citations.map(({ handle }) => handle));
  const own = new Set(citations.map(({ handle }) => handle));
  const shared = [...own].filter((handle) => cited.has(handle)).length;
  return own.size > 0 && shared >= own.size * SAME;
}

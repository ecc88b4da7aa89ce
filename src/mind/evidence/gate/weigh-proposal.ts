// Owns whether what a model wants to keep may be kept (design 1): the gate by rule, then the judge. Knows no ledger and no file.
// Invariants: nothing may be kept that the rules did not accept and a judge did not call supported, but what is exact by construction;
// no verdict means that it waits; a claim that the rules hold back is not asked about.
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { Judge, Judgement } from '../judge/judge.ts';
import type { ProposalDraft } from '../proposal.ts';
import { type GateOptions, type GateVerdict, gateProposal } from './gate-proposal.ts';

export interface Weighing extends GateOptions {
  readonly draft: ProposalDraft;
  /** Id of the proposal, under which `why` finds the verdicts. */
  readonly subject: string;
  /** All of its session, oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Made by a rule that only copies, counts or cuts the owner's words and recorded calls: there is nothing to judge. */
  readonly byRule?: boolean;
}

/** Waits for the owner, or goes back. */
export interface Held {
  readonly decision: 'pending' | 'refused';
  readonly reason: string;
  /** One sentence. */
  readonly detail: string;
}

export interface Scales {
  readonly judge: Judge;
  /** Takes secrets out of texts, as the ledger takes them out of quotes. */
  readonly redact?: (text: string) => string;
}

/** Undefined: it may be kept. */
export async function weighProposal(
  { judge, redact }: Scales,
  { draft, subject, messages, byRule, ...options }: Weighing,
  signal?: AbortSignal,
): Promise<Held | undefined> {
  const verdict = gateProposal(draft, messages, redact === undefined ? options : { ...options, redact });
  if (verdict.decision !== 'accepted') return verdict;
  return byRule === true ? undefined : judgeMeaning(judge, subject, verdict, signal);
}

/** The worst verdict counts: what says otherwise goes back, what goes beyond or has no verdict waits. */
async function judgeMeaning(
  judge: Judge,
  subject: string,
  { claims, sources, isExact }: Extract<GateVerdict, { decision: 'accepted' }>,
  signal?: AbortSignal,
): Promise<Held | undefined> {
  if (claims.length === 0 || (isExact && !judge.isThere())) return undefined;
  const judged = await judge.judge(claims, sources, { task: 'keep', subject }, signal);
  const worst = WORST.map((verdict) => judged.find((one) => one.verdict === verdict)).find((one) => one !== undefined);
  const said = new Set(judged.map(({ id }) => id));
  if (worst === undefined && claims.every(({ id }) => said.has(id))) return undefined;
  return heldBy(worst);
}

const WORST: readonly Judgement['verdict'][] = ['contradicts', 'one-off', 'goes-beyond', 'none'];

function heldBy(worst: Judgement | undefined): Held {
  if (worst === undefined || worst.verdict === 'none')
    return { decision: 'pending', reason: 'not-judged', detail: `No model judged it (${worst?.why ?? 'failed'}).` };
  const { verdict, why } = worst;
  const detail = why === '' ? `What it cites does not carry it: ${verdict}.` : why;
  return { decision: verdict === 'goes-beyond' ? 'pending' : 'refused', reason: verdict, detail };
}

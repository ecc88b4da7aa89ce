/** The escrow of the draft (hierarchy notes B1) in forty lines, which random walks are compared with. Actors are 0 … 3, nobody is -1. */
import { STATES, type State } from './roles.ts';

export interface ModelJob {
  readonly client: number;
  provider: number;
  readonly evaluator: number;
  readonly expiredAt: number;
  status: State;
  budget: bigint;
  deliverable: boolean;
}

export type Step =
  | {
      readonly name: 'createJob';
      readonly by: number;
      readonly provider: number;
      readonly evaluator: number;
      readonly expiredAt: number;
      readonly hooked: boolean;
    }
  | { readonly name: 'setProvider'; readonly by: number; readonly job: number; readonly provider: number }
  | { readonly name: 'setBudget' | 'fund'; readonly by: number; readonly job: number; readonly amount: bigint }
  | { readonly name: 'submit' | 'complete' | 'reject' | 'claimRefund'; readonly by: number; readonly job: number };

const UNMADE: ModelJob = {
  client: -1,
  provider: -1,
  evaluator: -1,
  expiredAt: 0,
  status: 'Open',
  budget: 0n,
  deliverable: false,
};

export class EscrowModel {
  readonly jobs: ModelJob[] = [];
  readonly purses: bigint[];
  now = 0;

  constructor(purses: readonly bigint[]) {
    this.purses = [...purses];
  }

  /** What is in escrow. */
  held(): bigint {
    const open = this.jobs.filter(({ status }) => status === 'Funded' || status === 'Submitted');
    return open.reduce((sum, { budget }) => sum + budget, 0n);
  }

  /** Ids begin with 1. */
  at(job: number): ModelJob {
    return this.jobs[job - 1] ?? UNMADE;
  }

  /** Does it; or the name of the error, and nothing is done. */
  take(step: Step): string | undefined {
    if (step.name === 'createJob') return this.#create(step);
    const job = this.at(step.job);
    const why = this.#whyNot(step, job);
    if (why === undefined) this.#change(step, job);
    return why;
  }

  #create({ by, provider, evaluator, expiredAt, hooked }: Extract<Step, { name: 'createJob' }>): string | undefined {
    if (hooked) return 'NoHooks';
    if (evaluator === -1) return 'NoEvaluator';
    if (expiredAt <= this.now) return 'PastExpiry';
    this.jobs.push({ ...UNMADE, client: by, provider, evaluator, expiredAt });
    return undefined;
  }

  #whyNot(step: Exclude<Step, { name: 'createJob' }>, job: ModelJob): string | undefined {
    if (!from[step.name].includes(job.status)) return 'WrongStatus';
    if (!callers(step.name, job).includes(step.by)) return 'NotYours';
    if (step.name === 'claimRefund' && this.now < job.expiredAt) return 'NotExpired';
    if (step.name === 'setBudget' && step.amount >= 2n ** 96n) return 'SafeCastOverflowedUintDowncast';
    if (step.name === 'setProvider') return whyNotProvider(step.provider, job);
    return step.name === 'fund' ? this.#whyNotFunded(job, step.amount) : undefined;
  }

  #whyNotFunded({ budget, provider, client }: ModelJob, amount: bigint): string | undefined {
    if (budget === 0n) return 'NoBudget';
    if (provider === -1) return 'NoProvider';
    if (budget !== amount) return 'WrongBudget';
    return (this.purses[client] ?? 0n) < budget ? 'ERC20InsufficientBalance' : undefined;
  }

  #change(step: Exclude<Step, { name: 'createJob' }>, job: ModelJob): void {
    if (step.name === 'setProvider') job.provider = step.provider;
    else if (step.name === 'setBudget') job.budget = step.amount;
    else this.#move(to[step.name], job);
  }

  #move(status: State, job: ModelJob): void {
    const was = job.status;
    job.status = status;
    if (status === 'Funded') this.#pay(job.client, -job.budget);
    if (status === 'Submitted') job.deliverable = true;
    if (status === 'Completed') this.#pay(job.provider, job.budget);
    if ((status === 'Rejected' || status === 'Expired') && was !== 'Open') this.#pay(job.client, job.budget);
  }

  #pay(actor: number, amount: bigint): void {
    this.purses[actor] = (this.purses[actor] ?? 0n) + amount;
  }
}

function whyNotProvider(provider: number, job: ModelJob): string | undefined {
  if (job.provider !== -1) return 'ProviderKnown';
  return provider === -1 ? 'NoProvider' : undefined;
}

const from: Readonly<Record<Exclude<Step['name'], 'createJob'>, readonly State[]>> = {
  setProvider: ['Open'],
  setBudget: ['Open'],
  fund: ['Open'],
  submit: ['Funded'],
  complete: ['Submitted'],
  reject: STATES.slice(0, 3),
  claimRefund: ['Funded', 'Submitted'],
};
const to = {
  fund: 'Funded',
  submit: 'Submitted',
  complete: 'Completed',
  reject: 'Rejected',
  claimRefund: 'Expired',
} as const;

/** Whose it is to do that now. */
export function callers(
  name: Exclude<Step['name'], 'createJob'>,
  { client, provider, evaluator, status }: ModelJob,
): readonly number[] {
  if (name === 'claimRefund') return [0, 1, 2, 3];
  if (name === 'setBudget') return [client, provider];
  if (name === 'submit') return [provider];
  if (name === 'complete') return [evaluator];
  return name === 'reject' && status !== 'Open' ? [evaluator] : [client];
}

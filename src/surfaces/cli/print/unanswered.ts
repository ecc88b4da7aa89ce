// Owns one judgement for scripts: was it done as asked? The refusal of reflex/1 is no answer, nor an act of its that was refused or
// failed; and whoever could approve a call was not there. Knows no printing.
import type { ReflexQuestion } from '#core/agent/reflex-rule.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Message, ToolResultPart } from '#core/model/message.ts';
import type { MissingCall, PrintError, TurnEnd, Verdict } from './print-result.ts';

type Denied = Extract<TurnEvent, { type: 'approval' }>;

export interface TurnWatch {
  see(event: TurnEvent): void;
  /** The turn's end as a script should read it. */
  judge(end: TurnEnd, asked: Asked): Promise<Verdict>;
}

/** The question with which reflex/1 ended the turn. */
export type Asked = () => Promise<ReflexQuestion | undefined>;

const FAILED = 1;
const REFUSED = 3;
const STOPPED = 130;

/** What of a turn counts when it is judged. */
interface Seen {
  last?: Message;
  result?: ToolResultPart;
  /** Name by id of each call. */
  readonly calls: Map<string, string>;
  readonly missing: Missing[];
}

interface Missing extends MissingCall {
  readonly callId: string;
  /** `--yes` would have approved it. */
  readonly isNear: boolean;
  /** It was the network that a command asked for while it ran. */
  readonly isNetwork: boolean;
}

/** What the configuration says of risky calls; `auto`: the run has `--yes` already. */
export type ApprovalsOfRun = 'ask' | 'deny' | 'auto';

export function watchTurn(approvals: ApprovalsOfRun): TurnWatch {
  const seen: Seen = { calls: new Map(), missing: [] };
  return {
    see: (event) => take(seen, event),
    judge: async (end, asked) => {
      const { missing } = seen;
      if (end.outcome === 'aborted' || end.outcome === 'failed') return failure(end);
      if (missing.length > 0)
        return { end, exitCode: REFUSED, error: approvalMissing(missing, howTo(missing, approvals)) };
      if (end.outcome !== 'done') return failure(end);
      return end.tier === 'T0' ? judgeReflex(end, seen, asked) : { end, exitCode: 0 };
    },
  };
}

function take(seen: Seen, event: TurnEvent): void {
  switch (event.type) {
    case 'tool-start':
      seen.calls.set(event.callId, event.name);
      break;
    case 'tool-end':
      seen.result = event.result;
      if (event.result.observed.exitCode === 0) forgetNetwork(seen, event.callId);
      break;
    case 'message':
      seen.last = event.message;
      break;
    case 'approval':
      if (event.decision === 'deny') seen.missing.push(missingOf(event, seen));
      break;
    default:
  }
}

function missingOf({ callId, preview, reach = 'beyond' }: Denied, { calls }: Seen): Missing {
  const isNear = reach !== 'beyond';
  return { callId, tool: calls.get(callId) ?? '', call: preview, isNear, isNetwork: reach === 'network' };
}

/** A host that stayed closed, and the command came to its end without it: a look for updates. The result names the host. */
function forgetNetwork({ missing }: Seen, callId: string): void {
  const kept = missing.filter((one) => one.callId !== callId || !one.isNetwork);
  missing.splice(0, missing.length, ...kept);
}

/** @param found what we found; absent: the end says itself how it failed */
function failure(end: TurnEnd, found?: PrintError): Verdict {
  if (found) {
    const { code, message, fix } = found;
    const error = { code, message, ...(fix ? { fix } : {}) };
    return { end: { ...end, outcome: 'failed', error }, exitCode: FAILED, error: found };
  }
  if (end.outcome === 'length') return { end, exitCode: FAILED, error: CUT };
  const code = end.stopped ?? end.outcome;
  const exitCode = end.outcome === 'aborted' ? STOPPED : FAILED;
  return { end, exitCode, error: end.error ?? { code, message: `the turn ended early: ${code}` } };
}

/** Fixed rules have no second thought: how their last call ended is how the turn ended, and what they ask nobody answers. */
async function judgeReflex(end: TurnEnd, { last, result }: Seen, asked: Asked): Promise<Verdict> {
  // The rules are in memory already when it was them that answered.
  const { isRefusal, isStopped } = await import('#core/reflex/answer.ts');
  if (last && isRefusal(last)) return failure({ ...end, text: '' }, NO_MODEL);
  if (last && isStopped(last)) return failure({ ...end, text: '' }, { code: 'refused', message: end.text });
  if (result?.observed.refused) return failure(end, { code: result.observed.refused, message: result.text });
  if (result?.isError) return failure(end, { code: 'call-failed', message: `${result.name}: ${result.text}` });
  const question = await asked();
  if (question?.confirms) {
    const calls = question.choices.map((call) => ({ tool: end.model, call }));
    return { end, exitCode: REFUSED, error: approvalMissing(calls, CONFIRM) };
  }
  return question ? failure(end, QUESTION) : { end, exitCode: 0 };
}

/** Where fixed rules ask whether exactly that was meant. */
const CONFIRM = 'Answer the question: `talaria -p 1 --continue --yes`.';
const TERMINAL = 'needs a yes at a terminal: start `talaria` there';

/** The way to an approval that helps: `--yes` reaches no farther than the folder and the network. */
function howTo(missing: readonly Missing[], approvals: ApprovalsOfRun): string {
  const near = missing.filter(({ isNear }) => isNear).length;
  const isNone = near === 0 || approvals === 'auto';
  if (approvals === 'deny')
    return `approvals.mode is deny: \`talaria config set approvals.mode ask\` lets ${isNone ? 'a yes at a terminal' : '--yes'} count.`;
  if (isNone) return `It ${TERMINAL}.`;
  if (near < missing.length) return `--yes approves what stays in the folder or the network; the rest ${TERMINAL}.`;
  return '--yes (or --permission-mode auto) approves such calls; or allow it for good in a chat: answer a = always.';
}

function approvalMissing(missing: readonly MissingCall[], fix: string): PrintError {
  const calls = missing.map(({ tool, call }) => ({ tool, call }));
  const what = calls.map(({ tool, call }) => (call === tool ? tool : `${tool}: ${call}`)).join('; ');
  return { code: 'approval-missing', message: `not approved, since nobody could answer: ${what}`, fix, calls };
}

const QUESTION: PrintError = {
  code: 'question',
  message: 'reflex/1 asked what was meant, and nobody could answer',
  fix: 'Say it so that it can mean one thing, or answer with a number: `talaria -p 1 --continue`.',
};

const CUT: PrintError = {
  code: 'length',
  message: 'cut off at the length limit of the model',
  fix: '-c -p "go on" gives the rest, or ask for less at once.',
};

const NO_MODEL: PrintError = {
  code: 'no-model',
  message: 'this needs a language model: reflex/1 was asked, and it has no rule for this',
  fix: '`talaria setup` adds a model, -m NAME uses another; `talaria -p help` shows what works without.',
};

// Owns asking the person at the terminal: may this run, and questions of the agent. Knows no screen: it is given a way to ask.
// Invariant: anything but a clear yes is a no, and what is shown is all of what would run.
import { ok, refuse } from '#base/result.ts';
import type { ApprovalDecision, Approver, Asker } from '#core/agent/approver.ts';
import type { Ask } from './questions.ts';
import { oneLine, plain, visible } from './terminal-text.ts';

const ANSWERS: ReadonlyMap<string, ApprovalDecision> = new Map([
  ['y', 'once'],
  ['yes', 'once'],
  ['s', 'session'],
  ['session', 'session'],
  ['a', 'always'],
  ['always', 'always'],
]);

export function createTerminalApprover(ask: Ask): Approver {
  return {
    approve: async (request, signal) => {
      const preview = visible(request.preview)
        .split('\n')
        .map((line) => `  ${line}`);
      const lines = [
        `${request.tool} asks to run this (${oneLine(request.reason)}):`,
        ...preview,
        `${request.key === '' ? 'y = yes' : 'y = once · s = this session · a = always'} · n = no, or say what to do instead`,
      ];
      const answer = await ask({ lines }, signal);
      const given = ANSWERS.get(answer?.trim().toLowerCase() ?? '');
      const decision = given !== undefined && request.key === '' ? 'once' : given;
      return decision === undefined ? { decision: 'deny', reason: denial(answer) } : { decision };
    },
  };
}

/** What the person typed instead of a yes is said to the model: it is often the better way. */
function denial(answer: string | undefined): string {
  if (answer === undefined) return 'the owner left without an answer';
  const text = answer.trim();
  return text === '' || /^no?$/i.test(text) ? 'the owner said no' : `the owner said: ${oneLine(text, 500)}`;
}

export function createTerminalAsker(ask: Ask): Asker {
  return {
    ask: async ({ question, choices }, signal) => {
      const lines = [plain(question), ...choices.map((choice, i) => `  ${i + 1}) ${plain(choice)}`)];
      const answer = (await ask({ lines }, signal))?.trim();
      if (answer === undefined || answer === '') return refuse('nobody-there', 'The owner gave no answer.');
      const chosen = /^\d+$/.test(answer) ? choices[Number(answer) - 1] : undefined;
      return ok(chosen ?? answer);
    },
  };
}

// Owns asking the person at the terminal: may this run, and questions of the agent. Knows no screen: it is given a way to ask.
// Invariant: anything but a clear yes is a no.
import { raceAbort } from '#base/abort.ts';
import { ok, refuse } from '#base/result.ts';
import type { ApprovalDecision, Approver, Asker } from '#core/agent/approver.ts';
import { oneLine, plain } from './terminal-text.ts';

/** Shows lines, then waits for one line; undefined when the person left without answering. */
export type Ask = (lines: readonly string[]) => Promise<string | undefined>;

const ANSWERS: Readonly<Record<string, ApprovalDecision>> = {
  y: 'once',
  yes: 'once',
  s: 'session',
  session: 'session',
  a: 'always',
  always: 'always',
};

export function createTerminalApprover(ask: Ask): Approver {
  return {
    approve: async (request, signal) => {
      const lines = [
        `${request.tool} wants to run something that ${oneLine(request.reason)}:`,
        ...plain(request.preview)
          .split('\n')
          .slice(0, 20)
          .map((line) => `  ${line}`),
        'y = once · s = this session · a = always · n = no',
      ];
      const answer = await raceAbort(ask(lines), signal);
      const decision = ANSWERS[answer?.trim().toLowerCase() ?? ''];
      return decision === undefined ? { decision: 'deny', reason: denial(answer) } : { decision };
    },
  };
}

/** What the person typed instead of a yes is said to the model: it is often the better way. */
function denial(answer: string | undefined): string {
  const text = answer?.trim() ?? '';
  return text === '' || /^no?$/i.test(text) ? 'the owner said no' : `the owner said: ${oneLine(text, 500)}`;
}

export function createTerminalAsker(ask: Ask): Asker {
  return {
    ask: async ({ question, choices }, signal) => {
      const lines = [plain(question), ...choices.map((choice, i) => `  ${i + 1}) ${plain(choice)}`)];
      const answer = (await raceAbort(ask(lines), signal))?.trim();
      if (answer === undefined || answer === '') return refuse('nobody-there', 'The owner gave no answer.');
      return ok(choices[Number(answer) - 1] ?? answer);
    },
  };
}

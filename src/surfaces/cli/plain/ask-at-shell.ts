// Owns asking one line of the person at the shell, for commands such as setup. Knows no command.
// Invariant: the answer to a secret question is not echoed.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Questions go to standard error, so that results can be piped on. Rejects with the signal's reason. */
export function askAtShell(signal: AbortSignal): (question: string, kind?: 'secret') => Promise<string> {
  return async (question, kind) => {
    const output = kind === 'secret' ? silentOutput() : process.stderr;
    const reader = createInterface({ input: process.stdin, output, terminal: true });
    try {
      if (kind === 'secret') process.stderr.write(`${question} (what you type is not shown) `);
      return await reader.question(kind === 'secret' ? '' : `${question} `, { signal });
    } finally {
      reader.close();
      if (kind === 'secret') process.stderr.write('\n');
    }
  };
}

function silentOutput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

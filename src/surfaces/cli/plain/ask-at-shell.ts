// Owns asking one line of the person at the shell, for commands such as setup. Knows no command.
// Invariants: the answer to a secret question is not echoed; what was typed before the question stood there, or in the moment after, is
// dropped; no control character of what is asked about reaches the terminal.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { systemClock } from '#base/clock.ts';
import { UNREAD_MS } from '../questions.ts';
import { visible } from '../terminal-text.ts';

/** Questions go to standard error, so that results can be piped on. Rejects with the signal's reason. */
export function askAtShell(signal: AbortSignal): (question: string, kind?: 'secret') => Promise<string> {
  return async (asked, kind) => {
    const question = visible(asked);
    const prompt = kind === 'secret' ? `${question} (what you type is not shown) ` : `${question} `;
    process.stderr.write(prompt);
    await dropTyped(signal);
    const output = kind === 'secret' ? silentOutput() : process.stderr;
    const reader = createInterface({ input: process.stdin, output, terminal: true });
    try {
      // It draws the last line of the prompt where that stands already.
      return await reader.question(kind === 'secret' ? '' : prompt.slice(prompt.lastIndexOf('\n') + 1), { signal });
    } finally {
      reader.close();
      if (kind === 'secret') process.stderr.write('\n');
    }
  };
}

/** Raw mode gives also what stands in an unfinished line; of its keys only the one that stops is heard. */
async function dropTyped(signal: AbortSignal): Promise<void> {
  const { stdin } = process;
  const hear = (keys: Buffer) => {
    if (keys.includes(3)) process.kill(process.pid, 'SIGINT');
  };
  stdin.setRawMode?.(true);
  stdin.on('data', hear);
  try {
    await systemClock.sleep(UNREAD_MS, signal);
  } finally {
    stdin.off('data', hear);
    stdin.pause();
    stdin.setRawMode?.(false);
  }
}

function silentOutput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

// Owns the thread that the sandbox lives in: it can be ended from outside at any time, whatever runs in it. Passes messages, nothing else.
// Invariant: one sandbox at a time; the next one has an engine and a memory of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { errorCode, errorText } from '#base/errors.ts';
import type { FromSandbox, SandboxStart, ToSandbox } from './repl-session.ts';
import { Sandbox } from './sandbox.ts';

const post = (message: FromSandbox): void => parentPort?.postMessage(message);
let sandbox: Sandbox | undefined;

parentPort?.on('message', (message: ToSandbox) => {
  if (message.type === 'open') void open(message.start);
  else if (message.type === 'close') close();
  else if (message.type === 'run') sandbox?.run(message.code);
  else if (message.type === 'reply') sandbox?.reply(message.order, message.reply);
  else sandbox?.check(message.handle);
});
await open(workerData as SandboxStart);

async function open(start: SandboxStart): Promise<void> {
  try {
    sandbox = await Sandbox.open(start, post);
    post({ type: 'ready' });
  } catch (error) {
    post({ type: 'fault', code: errorCode(error) ?? 'sandbox-failed', message: errorText(error) });
  }
}

function close(): void {
  sandbox?.close();
  sandbox = undefined;
}

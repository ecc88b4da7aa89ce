// Owns the thread that the sandbox lives in: it can be ended from outside at any time, whatever runs in it. Passes messages, nothing else.
import { parentPort, workerData } from 'node:worker_threads';
import { errorCode, errorText } from '#base/errors.ts';
import type { FromSandbox, SandboxStart, ToSandbox } from './messages.ts';
import { Sandbox } from './sandbox.ts';

const post = (message: FromSandbox): void => parentPort?.postMessage(message);

try {
  const sandbox = await Sandbox.open(workerData as SandboxStart, post);
  parentPort?.on('message', (message: ToSandbox) => {
    if (message.type === 'run') sandbox.run(message.code);
    else if (message.type === 'reply') sandbox.reply(message.order, message.reply);
    else sandbox.check(message.handle);
  });
  post({ type: 'ready' });
} catch (error) {
  post({ type: 'fault', code: errorCode(error) ?? 'sandbox-failed', message: errorText(error) });
}

/** An agent in a process of its own: what it loads, and that nothing of it keeps the process alive (R4.43, R4.67). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe } from 'node:test';
import { promisify } from 'node:util';
import { bobIntroduced } from '../../contract/hive/hive-scenes.ts';
import { HiveStage, OFF, ON, onFake } from '../../contract/hive/hive-stage.ts';
import { verifies } from '../../verifies.ts';
import type { AgentTask } from './agent-process.ts';

const ground = { name: 'fake homeserver', isFake: true, start: onFake() };
const run = promisify(execFile);

/** Prints each module of a package as it is resolved. */
const WATCH = `import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => {
  const found = next(name, context);
  const [, folder] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(found.url) ?? [];
  if (folder !== undefined) console.log('PACKAGE ' + folder);
  return found;
} });`;

describe('an agent in a process of its own', () => {
  for (const mode of [OFF, ON])
    verifies(
      ['R4.43', 'R4.67', 'R4.53'],
      `e2ee ${mode.e2ee ? 'on' : 'off'}: ends by itself; cryptography is loaded only when on`,
      () =>
        HiveStage.run({ ground, mode }, async (on) => {
          const { bob } = await bobIntroduced(on);
          const { url, serverName } = on.server;
          const task: AgentTask = {
            url,
            serverName,
            account: bob.account,
            folder: bob.folder,
            ...mode,
            act: { type: 'look' },
          };
          const watch = `data:text/javascript,${encodeURIComponent(WATCH)}`;
          const args = ['--import', watch, join(import.meta.dirname, 'agent-process.ts'), JSON.stringify(task)];
          const { stdout } = await run(process.execPath, args, { timeout: 20_000 });
          const packages = new Set([...stdout.matchAll(/^PACKAGE (.*)$/gm)].map(([, name]) => name));
          assert.equal(packages.has('@matrix-org/matrix-sdk-crypto-wasm'), mode.e2ee);
          assert.equal(packages.has('fake-indexeddb'), mode.e2ee);
          if (!mode.e2ee) assert.deepEqual([...packages].sort(), ['zod']);
          assert.match(stdout, /^OVER$/m);
        }),
    );
});

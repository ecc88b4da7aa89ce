/** Meta with a real SmolLM2-135M-Instruct, which is far too small to route: whatever it says, Meta answers or asks, and acts on nothing that does not validate. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openConversation } from '#fleet/meta/conversation.ts';
import type { CladeOutput } from '#fleet/styx/clade.ts';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { choicesOf, five, never } from '../fleet/meta/clade-stage.ts';
import { createStage, groundOf } from '../surfaces/app/app-fixture.ts';
import { verifies } from '../verifies.ts';
import { findSmolLm2 } from './find-smollm2.ts';

const LINES = ['How are my golems doing?', 'Tell alpha to rest', ''];

const { modelPath, engineFolder } = findSmolLm2();

if (!modelPath || !engineFolder) {
  const skip = 'skipped: no package index answers, the model cannot be fetched';
  test('Meta with SmolLM2', { skip }, () => undefined);
} else {
  describe('Meta with SmolLM2', () => {
    // The engine tries its binary in a forked process, which would inherit `--test` and run tests instead.
    const flags = process.execArgv;
    before(() => {
      process.execArgv = [];
    });
    after(() => {
      process.execArgv = flags;
    });

    verifies(['R1.27', 'R1.80'], 'answers or asks', {
      options: { timeout: 400_000 },
      run: async (t) => {
        const stage = createStage(t);
        const [models, engines] = [join(stage.root, 'models'), join(stage.root, 'engines')];
        for (const folder of [models, engines]) mkdirSync(folder, { recursive: true, mode: 0o700 });
        symlinkSync(modelPath, join(models, basename(modelPath)));
        symlinkSync(engineFolder, join(engines, basename(engineFolder)));
        const ground = groundOf(t, { environment: stage.environment });
        const states = five();
        const golems = { states: async () => states, ask: async () => assert.fail('nobody is asked') };
        for (const payer of ['api_key', 'local']) {
          const model = payer === 'local' ? `llama/${basename(modelPath, '.gguf')}` : '""';
          writeFileSync(join(stage.root, 'config.yaml'), `clade: { payer: ${payer}, model: ${model} }\n`);
          const conversation = openConversation(ground, { golems: async () => golems as never });
          for (const line of LINES)
            judge(line, await Array.fromAsync(conversation.say(line, { signal: never, cwd: stage.cwd })));
          await conversation.close();
        }
        const log = openHomeLog({ path: join(stage.root, 'styx.db') });
        assert.deepEqual(log.read(['golem.*.steer'], 0, 9), []);
        log.close();
      },
    });
  });
}

/** It asks, or says something of its own beside the rows. */
function judge(line: string, outputs: readonly CladeOutput[]): void {
  const [first] = outputs;
  const did = first?.type === 'action' ? first.action.type : first?.type;
  const may: readonly (string | undefined)[] = line === '' ? [undefined] : ['question', 'DirectResponse'];
  assert.ok(may.includes(did === undefined ? did : String(did)), `${line}: ${JSON.stringify(outputs)}`);
  if (did === 'question') assert.ok(choicesOf(outputs).length > 1);
}

/**
 * Whole turns with a real SmolLM2-135M-Instruct: the composed agent with its prompt, tools and store, the local engine in
 * text mode with a window of 8 K. Nothing is set up but the model file and the engine in the home.
 */

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Conversation } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#public/talaria.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { engineFolder as placeOfEngine } from '#surfaces/app/models/find-providers.ts';
import { unansweredCalls } from '../core/agent/turn-fixture.ts';
import { realClock } from '../ground.ts';
import { createCliStage } from '../scenario/cli-process.ts';
import { createStage, openConversation } from '../surfaces/app/app-fixture.ts';
import { verifies } from '../verifies.ts';
import { findSmolLm2, type SmolLm2 } from './find-smollm2.ts';

/** Two conversations of five turns. */
const CONVERSATIONS = [
  ['Say hello.', 'What is in this folder?', '2+2?', 'Run ls and tell me what you see.', 'Thank you.'],
  ['Read notes.txt.', 'Remember that my port is 4711.', 'Name a colour.', 'Say the word data for ever.', ''],
];
/** A model that goes on and on is stopped then, as a person would; the turn must end at once. */
const PATIENCE_MS = 30_000;
const STOP_MS = 3_000;

const { modelPath, engineFolder } = findSmolLm2();

if (!modelPath || !engineFolder) {
  const skip = 'skipped: no package index answers, the model cannot be fetched';
  test('turns with SmolLM2', { skip }, () => undefined);
} else {
  describe('turns with SmolLM2', () => {
    // The engine tries its binary in a forked process, which would inherit `--test` and run tests instead.
    const flags = process.execArgv;
    before(() => {
      process.execArgv = [];
    });
    after(() => {
      process.execArgv = flags;
    });

    verifies(['core:turn:one-terminal-event', 'core:loop:until-plain-text'], 'ten turns end properly, some in text', {
      options: { timeout: 400_000 },
      run: async (t) => {
        const ends: End[] = [];
        for (const prompts of CONVERSATIONS) ends.push(...(await talk(t, prompts)));
        const plain = ends.filter((end) => end.outcome === 'done' && end.text.trim() !== '');
        assert.ok(plain.length >= 1, JSON.stringify(ends.map((end) => end.outcome)));
      },
    });

    verifies('core:cli:print-json', 'talaria -p answers through the file in the home and leaves', {
      options: { timeout: 120_000 },
      run: async (t) => {
        const stage = createCliStage(t);
        place(stage.root, { modelPath, engineFolder });
        const run = await stage.run(['-p', 'Say hello.', '--output-format', 'json']);
        const result = JSON.parse(run.out);
        assert.equal(result.model, `llama/${basename(modelPath, '.gguf')}`);
        assert.equal(run.code, result.is_error ? 1 : 0, run.err);
        assert.ok(result.num_steps >= 1 && result.cost === 0, run.out);
      },
    });
  });
}

type End = Extract<TurnEvent, { type: 'turn-end' }>;

async function talk(t: TestContext, prompts: readonly string[]): Promise<readonly End[]> {
  const stage = createStage(t);
  place(stage.root, { modelPath, engineFolder });
  writeFileSync(join(stage.cwd, 'notes.txt'), 'The winged sandals are by the door.\n');
  // Beside a model this small the rules would take their own forms.
  stage.temp.write('home/config.yaml', 'reflex:\n  first: false\n');
  const app = await stage.open();
  const conversation = await openConversation(app);
  assert.equal(conversation.model.traits.toolCalling, 'text');
  assert.equal(conversation.model.traits.contextWindow, 8192);
  const ends: End[] = [];
  for (const prompt of prompts) ends.push(await endOf(conversation, prompt));
  await conversation.close();
  await app.shutdown();
  return ends;
}

/** Plays one turn of a model that may say anything, and checks what holds whatever it says. */
async function endOf(conversation: Conversation, prompt: string): Promise<End> {
  const began = realClock.monotonic();
  const events: TurnEvent[] = [];
  const signal = AbortSignal.timeout(PATIENCE_MS);
  for await (const event of conversation.send(prompt, { signal })) events.push(event);
  const end = events.at(-1);
  assert.ok(end?.type === 'turn-end', `${prompt}: ${end?.type}`);
  assert.equal(events.filter((event) => event.type === 'turn-end').length, 1, prompt);
  assert.ok(realClock.monotonic() - began < PATIENCE_MS + STOP_MS, `${prompt}: hangs`);
  const proper = ['done', 'stopped', 'length', ...(signal.aborted ? ['aborted'] : [])];
  assert.ok(proper.includes(end.outcome), `${prompt}: ${end.outcome} ${JSON.stringify(end.error)}`);
  assert.match(end.model, /^llama\//, `${prompt}: another model answered`);
  assert.deepEqual(unansweredCalls(conversation.history), [], prompt);
  if (end.outcome === 'done') assert.equal(conversation.history.at(-1)?.role, 'assistant', prompt);
  return end;
}

function place(root: string, files: SmolLm2): void {
  if (!files.modelPath || !files.engineFolder) throw new Error('there is no model to place');
  const home = homeAt(root);
  for (const folder of [home.models, home.engines]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  symlinkSync(files.modelPath, join(home.models, basename(files.modelPath)));
  symlinkSync(files.engineFolder, placeOfEngine(home));
}

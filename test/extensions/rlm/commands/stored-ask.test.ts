// Asks in the store, through the commands: verified with their context, replayed in a fresh sandbox, exported, refused when it changed.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { askQuestion } from '#extensions/rlm/ask/ask-question.ts';
import type { AskContext } from '#extensions/rlm/ask/prepare-ask.ts';
import { traceStorePath } from '#extensions/rlm/trace/trace-store.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { askGround } from '../ask/ask-ground.ts';
import { js, NOTES } from '../ask/ask-scene.ts';
import { ran, storedHome } from './stored-ground.ts';

const CODE = js(`
  const n = compute((all) => all.search("ERROR", {max: 1000}).length, context);
  const [hit] = context.search("owner");
  const piece = span(hit);
  const reply = await llmQuery("Who is the owner?", piece);
  const nested = await rlmQuery("Which host?", span(0, 200));
  finish([
    {text: "There are 20 lines with ERROR.", handles: [n]},
    {text: "The owner of the gateway is Alice Meyer.", handles: reply.claims},
    {text: "Its host is named Berlin.", handles: nested.claims},
    {text: "Its owner is Boris.", handles: [piece]},
  ]);`);
/** Without sub-calls. */
const PLAIN = js(`
  const n = compute((all) => all.search("ERROR", {max: 1000}).length, context);
  finish([{text: "There are 20 lines with ERROR.", handles: [n]}]);`);
const NESTED = js(`
  const r = await llmQuery("Host?", span(0, 100));
  finish([{text: "Its host is named Berlin.", handles: r.claims}]);`);

const QUESTION = 'How many errors, and who owns it?';
const PLAIN_QUESTION = 'How many errors are there?';

function answer(prompt: string): string {
  const { schema_version, question } = JSON.parse(prompt) as { schema_version: string; question: string };
  if (schema_version.includes('.sub.')) {
    const text = question === 'Host?' ? 'Its host is named Berlin.' : 'The owner of the gateway is Alice Meyer.';
    return JSON.stringify({ answer: text, claims: [text] });
  }
  if (question === 'Which host?') return NESTED;
  return question === PLAIN_QUESTION ? PLAIN : CODE;
}

interface Asked {
  readonly run_id: string;
  readonly file: string;
  readonly scene: ReturnType<typeof askGround>;
}

async function storeAsk(t: TestContext, { piped = false, question = PLAIN_QUESTION } = {}): Promise<Asked> {
  const scene = askGround(t, answer);
  const file = scene.write('notes/gateway.md', NOTES);
  scene.write('notes/other.md', 'Nothing of it.\n');
  const context: AskContext = piped
    ? { input: Readable.from([Buffer.from(NOTES)]) }
    : { path: join(scene.cwd, 'notes'), root: scene.cwd };
  const { ground } = scene;
  const asked = await askQuestion({ ground, context, question, keepContext: piped }, new AbortController().signal);
  assert.ok(asked.ok, asked.ok ? '' : asked.detail);
  assert.equal(asked.value.outcome.verdict, 'answered', JSON.stringify(asked.value.outcome));
  return { run_id: asked.value.outcome.run_id, file, scene };
}

describe('stored asks', () => {
  verifies.slow(
    ['rlm:run:trace', 'rlm:run:replay'],
    'an ask holds together, is the same again, and shows its handles',
    async (t) => {
      const { run_id, scene } = await storeAsk(t as TestContext, { question: QUESTION });
      const { ground } = scene;
      const verified = await ran(ground, 'verify', { run: run_id });
      assert.equal(verified.failure, undefined, verified.text);
      assert.match(verified.text, /: \d+ events, \d+ calls?: holds together$/);
      assert.match((await ran(ground, 'replay', { run: run_id })).text, /the same again/);
      const { text } = await ran(ground, 'show', { run: run_id });
      assert.match(text, /\nThere are 20 lines with ERROR\.\n {4}values of code; .*\n {6}value {2}20\n {6}by: /);
      assert.match(text, /\nThe owner of the gateway is Alice Meyer\.\n {4}quoted: notes\/gateway\.md:204\n/);
      assert.match(text, /\nIts owner is Boris\.\n {4}NOT SUPPORTED: no model to read it\n/);
      assert.match(
        (await ran(ground, 'runs')).text,
        /\| ask \| How many errors, and who owns it\? \| answered \| 4 \|/,
      );
    },
  );

  test('with another context it is no run any more: refused, and the record stays', async (t) => {
    const { run_id, file, scene } = await storeAsk(t);
    writeFileSync(file, NOTES.replace('8080', '8081'));
    const replay = (await ran(scene.ground, 'replay', { run: run_id })).failure;
    assert.deepEqual([replay?.exitCode, replay?.code], [3, 'context-changed']);
    const verified = await ran(scene.ground, 'verify', { run: run_id });
    assert.equal(verified.failure, undefined);
    assert.match(verified.text, /handles were not looked at again: .*gateway\.md is not what it was/);
  });

  test('a handle that was changed with its hash is found by running its code again', async (t) => {
    const { run_id, scene } = await storeAsk(t);
    const { database } = openDatabase(traceStorePath(scene.home), { rooms: [] });
    database.exec(`UPDATE rlm_runs SET outcome = replace(outcome, '"output":"20"', '"output":"21"')`);
    database.close();
    const { text, failure } = await ran(scene.ground, 'verify', { run: run_id });
    assert.equal(failure?.exitCode, 1);
    assert.match(text, /handle-hash/);
    assert.match(text, /handle-wrong/);
    assert.match((await ran(scene.ground, 'replay', { run: run_id })).failure?.message ?? '', /outcome|state_hash/);
  });

  slow('a quotation that was changed is found at its place', async (t) => {
    const { run_id, scene } = await storeAsk(t, { question: QUESTION });
    const { database } = openDatabase(traceStorePath(scene.home), { rooms: [] });
    database.exec(
      `UPDATE rlm_runs SET outcome = replace(outcome, '"text":"Its host is named', '"text":"Its host is not named')`,
    );
    database.close();
    const { text } = await ran(scene.ground, 'verify', { run: run_id });
    assert.match(text, /handle-wrong \| sentence 3 \| Its place says something else/);
  });

  for (const piped of [false, true]) {
    test(`an exported ask ${piped ? 'of piped input ' : ''}takes its context along`, async (t) => {
      const { run_id, scene } = await storeAsk(t, { piped });
      await ran(scene.ground, 'show', { run: run_id, export: join(scene.cwd, 'ask.json') });
      rmSync(join(scene.cwd, 'notes'), { recursive: true });
      rmSync(join(scene.home, 'rlm'), { recursive: true });
      const { ground } = storedHome(t);
      const run = join(scene.cwd, 'ask.json');
      assert.match((await ran(ground, 'replay', { run })).text, /the same again/);
      assert.match((await ran(ground, 'verify', { run })).text, /^ask_\w+: \d+ events, \d+ calls?: holds together$/);
      const exported = JSON.parse(readFileSync(run, 'utf8')) as { context: Record<string, string> };
      const context = Object.fromEntries(Object.keys(exported.context).map((hash) => [hash, btoa('Other.')]));
      writeFileSync(run, JSON.stringify({ ...exported, context }));
      assert.equal((await ran(ground, 'replay', { run })).failure?.code, 'context-changed');
    });
  }
});

// Files that somebody sent: whatever stands in an exported ask, verify and replay end with an outcome, and read nothing beside it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { errorCode } from '#base/errors.ts';
import { askQuestion } from '#extensions/rlm/ask/ask-question.ts';
import { askGround } from '../ask/ask-ground.ts';
import { js, NOTES } from '../ask/ask-scene.ts';
import { ran } from './stored-ground.ts';

const CODE = js(`
  const n = compute((all) => all.search("ERROR", {max: 1000}).length, context);
  finish([{text: "There are 20 lines with ERROR.", handles: [n]}]);`);

interface Exported {
  readonly row: {
    root: string;
    readonly request: Record<string, unknown> & { readonly repl: Record<string, unknown> };
    readonly sources: { path: string; hash: string; bytes: number }[];
  };
  context?: Record<string, string>;
}

describe('an exported ask that somebody changed', () => {
  let text = '';
  let scene: ReturnType<typeof askGround>;

  const ends: (() => unknown)[] = [];
  const suite = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext;
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  before(async () => {
    scene = askGround(suite, () => CODE);
    scene.write('notes/gateway.md', NOTES);
    const context = { path: join(scene.cwd, 'notes'), root: scene.cwd };
    const asked = { ground: scene.ground, context, question: 'How many errors are there?' };
    const answered = await askQuestion(asked, new AbortController().signal);
    assert.ok(answered.ok && answered.value.outcome.verdict === 'answered');
    const file = join(scene.cwd, 'sent.json');
    await ran(scene.ground, 'show', { run: answered.value.outcome.run_id, export: file });
    text = readFileSync(file, 'utf8');
  });

  async function replayed(change: (sent: Exported) => void): Promise<string | undefined> {
    const sent = JSON.parse(text) as Exported;
    change(sent);
    const run = join(scene.cwd, 'changed.json');
    writeFileSync(run, JSON.stringify(sent));
    try {
      await ran(scene.ground, 'verify', { run });
      return (await ran(scene.ground, 'replay', { run })).failure?.code;
    } catch (error) {
      return errorCode(error);
    }
  }

  const requests: readonly (readonly [string, unknown])[] = [
    ['concurrency', 0],
    ['max_steps', 1e15],
    ['depth', 6],
    ['window_tokens', -1],
    ['families', null],
    ['skipped', null],
    ['repl', null],
    ['question', 5],
  ];
  for (const [name, value] of requests)
    test(`a request with ${name} ${String(value)} is refused`, async () =>
      assert.equal(await replayed(({ row }) => Object.assign(row.request, { [name]: value })), 'run-request-invalid'));

  for (const name of ['memory_bytes', 'block_ms', 'output_chars', 'sub_calls'])
    test(`a sandbox with ${name} 1e15 is refused`, async () =>
      assert.equal(
        await replayed(({ row }) => Object.assign(row.request.repl, { [name]: 1e15 })),
        'run-request-invalid',
      ));

  const up = '../../../../../../../etc/passwd';
  for (const path of ['', 'a\0b', 'a'.repeat(5_000), 'notes', up, 'notes/gateway.md/x'])
    test(`a source at ${JSON.stringify(path.slice(0, 40))} is no context`, async () => {
      const code = await replayed(({ row }) => row.sources.push({ hash: '', bytes: 0, ...row.sources[0], path }));
      assert.equal(code, 'context-changed');
    });

  test('a pipe is no context, and nobody waits for it', async () => {
    execFileSync('mkfifo', [join(scene.cwd, 'pipe')]);
    const code = await replayed((sent) => {
      delete sent.context;
      for (const source of sent.row.sources) source.path = 'pipe';
    });
    assert.equal(code, 'context-changed');
  });
});

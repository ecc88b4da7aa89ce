import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parseJsonObject } from '#base/json.ts';
import type { AnyCommand, CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { runCommands } from '#extensions/rlm/commands/run-command.ts';
import type { RunRequest } from '#extensions/rlm/run/run-request.ts';
import { openTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { noJudge } from '#mind/evidence/judge.ts';
import type { TurnEvent } from '#public/talaria.ts';
import { testGround } from '../../../ground.ts';
import { verifies } from '../../../verifies.ts';
import { harbour, honest } from '../run/run-ground.ts';

const home = mkdtempSync(join(tmpdir(), 'rlm-command-'));
const work = join(home, 'work');
mkdirSync(work);
writeFileSync(join(work, 'harbour.txt'), harbour(8));
after(() => rmSync(home, { recursive: true, force: true }));

const QUESTION = 'List every fact about the harbour with its id.';
const asked: string[] = [];

/** A turn whose model answers by rule. */
function turnSaying(reply: (prompt: string) => string): Mind['runTurn'] {
  return async function* (request): AsyncGenerator<TurnEvent> {
    asked.push(request.text);
    yield { type: 'text-delta', text: reply(request.text) } as TurnEvent;
    yield {
      type: 'turn-end',
      outcome: 'answered',
      model: 'test/model',
      tier: 'T1',
      usage: { inputTokens: 10, outputTokens: 5 },
      cost: 0.001,
    } as unknown as TurnEvent;
  };
}

const byRule = (prompt: string) => {
  const parsed = parseJsonObject(prompt);
  return parsed.ok && parsed.value.call_context !== undefined ? honest(parsed.value) : '{"ambiguity": 0.1}';
};

let window = 8_192;

function ground(reply: (prompt: string) => string = byRule): Ground {
  return testGround({
    places: { home, userHome: home },
    open: async () => ({
      runTurn: turnSaying(reply),
      config: (_section, schema) => schema.parse({}),
      judge: noJudge,
      answering: () => 'T1',
      window: () => window,
      redact: (text) => text,
    }),
  });
}

interface Ran {
  readonly lines: string;
  readonly failure: Extract<CommandOutput, { type: 'failure' }> | undefined;
  readonly data: Record<string, unknown> | undefined;
}

async function command(
  input: Record<string, unknown>,
  options: { readonly reply?: (prompt: string) => string; readonly context?: Partial<CommandContext> } = {},
): Promise<Ran> {
  const [spec] = runCommands(ground(options.reply)) as readonly AnyCommand[];
  assert.ok(spec);
  const context = { cwd: work, signal: new AbortController().signal, ...options.context };
  const outputs: CommandOutput[] = [];
  for await (const output of spec.run(spec.input.parse(input) as never, context)) outputs.push(output);
  const lines = outputs
    .flatMap((output) => (output.type === 'line' ? [output.text] : output.type === 'table' ? output.rows.flat() : []))
    .join('\n');
  const failure = outputs.find((output) => output.type === 'failure');
  const data = outputs.find((output) => output.type === 'data');
  return { lines, failure, data: data?.value as Record<string, unknown> | undefined };
}

describe('rlm run', () => {
  test('shows each claim with its source, keeps the run, exits 0', async () => {
    const { lines, failure, data } = await command({
      target: 'harbour.txt',
      question: QUESTION,
      chunkLines: '4',
      concurrency: '2',
      debug: true,
    });
    assert.equal(failure, undefined);
    assert.match(lines, /Accepted: 8 claims cited \(4 chunks, 8 quotations\)\./);
    assert.match(lines, /\[HB-003\] harbour\.txt:5/);
    assert.match(lines, /rlm_call_atomic_synthesis\nsynthesize_parent\ndefault\ntest\/model/);
    assert.match(lines, /not checked/);
    assert.doesNotMatch(lines, /verified/i);
    const store = openTraceStore(home, { readOnly: true });
    const row = store.find(String(data?.run_id));
    assert.ok(row.ok);
    assert.equal(row.value.state, 'completed');
    store.close();
  });

  test('names what it did not read', async () => {
    const { lines } = await command({ target: 'harbour.txt', goal: QUESTION, chunkLines: 2, maxChunks: 2 });
    assert.match(lines, /Not read:\n {2}- harbour\.txt:5-6 \(max_chunks\)/);
  });

  test('a dry run asks nobody, shows the plan and exits 0, however vague the request', async () => {
    asked.length = 0;
    for (const question of [QUESTION, 'fix it']) {
      const { lines, failure, data } = await command({ target: 'harbour.txt', question, dryRun: true, chunkLines: 4 });
      assert.equal(failure, undefined);
      assert.match(lines, /Dry run: nothing was asked\. harbour\.txt, 4 chunks, 5 calls/);
      assert.match(lines, /it names what is wanted/);
      assert.equal(data?.verdict, 'dry_run');
    }
    assert.deepEqual(asked, []);
  });

  test('prompts are made for the window of the model, when nobody names one', async () => {
    const asking = { target: 'harbour.txt', question: QUESTION, dryRun: true };
    const sizeOf = async (more: object) => (await command({ ...asking, ...more })).data?.request as RunRequest;
    const usual = await sizeOf({});
    window = 6_000;
    try {
      assert.deepEqual(await sizeOf({ window: 8_192 }), usual);
      assert.equal((await sizeOf({})).max_output_tokens, 1_800);
    } finally {
      window = 8_192;
    }
  });

  verifies(
    'rlm:ambiguity:gate',
    'a vague request exits 3 with the question; a person is asked; --force goes on',
    async () => {
      const vague = { target: 'harbour.txt', question: 'fix it', chunkLines: 4 };
      const { failure } = await command(vague);
      assert.deepEqual([failure?.exitCode, failure?.code], [3, 'request-ambiguous']);
      assert.match(failure?.message ?? '', /\?/);
      const questions: string[] = [];
      const ask = async (question: string) => {
        questions.push(question);
        return QUESTION;
      };
      assert.equal((await command(vague, { context: { ask } })).failure, undefined);
      assert.equal(questions.length, 1);
      const forced = await command({ ...vague, force: 'I mean it', rate: true });
      assert.equal(forced.failure, undefined);
      const store = openTraceStore(home, { readOnly: true });
      const row = store.find(String(forced.data?.run_id));
      assert.ok(row.ok);
      const { ambiguity } = row.value.request as { ambiguity: Record<string, unknown> };
      assert.deepEqual([ambiguity.override, ambiguity.model_rating], ['I mean it', 0.1]);
      store.close();
    },
  );

  test('a refused synthesis shows why, beside what the chunks say, and exits 3', async () => {
    const reply = (prompt: string) =>
      prompt.includes('"mode":"synthesize_parent"') ? '{"claims": ["all is well"]}' : byRule(prompt);
    const { lines, failure } = await command({ target: 'harbour.txt', question: QUESTION, chunkLines: 4 }, { reply });
    assert.deepEqual([failure?.exitCode, failure?.code], [3, 'synthesis-refused']);
    assert.match(lines, /Refused by the gate:/);
    assert.match(lines, /What the chunks say, word for word:/);
  });

  test('nothing found exits 3, a run that could not be done exits 1', async () => {
    const nothing =
      '{"mode":"execute_atomic","verdict":"partial","confidence":0,"result":{"summary":"","observed_facts":[]},"evidence_references":[],"residual_gaps":[]}';
    const none = await command({ target: 'harbour.txt', question: QUESTION }, { reply: () => nothing });
    assert.deepEqual([none.failure?.exitCode, none.failure?.code], [3, 'no-evidence']);
    const broken = await command({ target: 'harbour.txt', question: QUESTION }, { reply: () => '' });
    assert.deepEqual([broken.failure?.exitCode, broken.failure?.code], [1, 'run-failed']);
    const stopped = await command(
      { target: 'harbour.txt', question: QUESTION },
      { context: { signal: AbortSignal.abort() } },
    ).catch((error: Error) => error.name);
    assert.ok(stopped === 'AbortError' || (typeof stopped !== 'string' && stopped.failure?.code === 'run-cancelled'));
  });

  for (const [name, input, exitCode, code] of [
    ['a missing target', { target: 'nowhere.txt' }, 1, 'target-missing'],
    ['an option out of range', { target: 'harbour.txt', maxDepth: 9 }, 2, 'run-option-invalid'],
    ['an unknown family', { target: 'harbour.txt', family: 'nobody' }, 3, 'rlm-family-unknown'],
  ] as const) {
    test(`${name} is refused as ${code}`, async () => {
      const { failure } = await command(input);
      assert.deepEqual([failure?.exitCode, failure?.code], [exitCode, code]);
    });
  }

  verifies(
    ['rlm:memory:modes', 'rlm:memory:off-by-default'],
    'memory is written only when its mode says so',
    async () => {
      const memoryStore = join(home, 'memory.jsonl');
      const input = { target: 'harbour.txt', question: QUESTION, chunkLines: 4, memoryStore };
      for (const memoryMode of [undefined, 'off', 'read'])
        await command({ ...input, ...(memoryMode === undefined ? {} : { memoryMode }) });
      assert.equal(existsSync(memoryStore), false);
      const { lines } = await command({ ...input, memoryMode: 'write' });
      assert.match(lines, /Remembered of how to ask: 1 record/);
      assert.match(readFileSync(memoryStore, 'utf8'), /provider_schema_stability/);
      asked.length = 0;
      await command({ ...input, memoryMode: 'read' });
      assert.ok(asked.some((prompt) => prompt.includes('"memory_priors"')));
      asked.length = 0;
      await command({ ...input, memoryMode: 'write' });
      assert.ok(asked.every((prompt) => !prompt.includes('"memory_priors"')));
    },
  );
});

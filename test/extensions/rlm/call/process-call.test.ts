/** The inner call that is a program: small node programs stand for the agents of others, good and bad. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { ownPath } from '#base/paths/typed-path.ts';
import type { InnerCall, InnerRequest } from '#extensions/rlm/call/inner-call.ts';
import {
  createProcessCall,
  type ProcessCallParts,
  readProcessReply,
  withoutFrame,
} from '#extensions/rlm/call/process-call.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { until } from '../../../ends.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { innerCallContract, type Part, requestOf } from './inner-call.contract.ts';

const never = () => new AbortController().signal;
const READ = `const asked = JSON.parse(require('fs').readFileSync(0, 'utf8'));`;

interface Making extends Partial<Omit<ProcessCallParts, 'surroundings'>> {
  readonly variables?: Readonly<Record<string, string>>;
  readonly outside?: number;
}

/** A family whose program is node running `code`. */
function program(code: string, making: Making = {}): InnerCall {
  const { variables = {}, outside = 0, ...parts } = making;
  return createProcessCall({
    family: 'small',
    command: [process.execPath, '-e', code],
    env: [],
    input: 'json',
    ...parts,
    surroundings: {
      variables: { PATH: process.env.PATH ?? '', HOME: '/nowhere', ...variables },
      outside,
      redact: (text) => text.replaceAll('hunter2-hunter2', '[secret]'),
    },
  });
}

async function ask(call: InnerCall, changes: Partial<InnerRequest> = {}) {
  return call.call(requestOf(changes), never());
}

async function completionOf(call: InnerCall, changes: Partial<InnerRequest> = {}): Promise<string> {
  const outcome = await ask(call, changes);
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.value.completion;
}

async function refusalOf(call: InnerCall, changes: Partial<InnerRequest> = {}) {
  const outcome = await ask(call, changes);
  assert.ok(!outcome.ok, JSON.stringify(outcome).slice(0, 300));
  return outcome;
}

const tell = (value: string) => `process.stdout.write(JSON.stringify(${value}))`;

function codeOf(part: Part): string {
  switch (part.plays) {
    case 'reply':
      return `${READ} ${tell(`{ completion: ${JSON.stringify(part.text)} }`)}`;
    case 'echo':
      return `${READ} ${tell('{ completion: asked.prompt }')}`;
    case 'flood':
      return `process.stdout.write('x'.repeat(${part.chars}))`;
    case 'hang':
      return `process.stdout.write('As far as I'); setInterval(() => undefined, 1000)`;
    case 'fail':
      return `console.error('no key is set'); process.exit(3)`;
    case 'silence':
      return '';
  }
}

innerCallContract('process call', { make: (_, part) => program(codeOf(part)) });
innerCallContract('process call, plain output', {
  make: (_, part) => {
    if (part.plays === 'reply') return program(`process.stdout.write(${JSON.stringify(part.text)})`);
    if (part.plays === 'echo') return program('process.stdin.pipe(process.stdout)', { input: 'prompt', command: ECHO });
    return program(codeOf(part));
  },
});
const ECHO = [process.execPath, '-e', 'process.stdin.pipe(process.stdout)', '{system}'];

describe('process call: what the program is given', () => {
  verifies('rlm:run:inner-bounded', 'one JSON object on standard input', async () => {
    const call = program(`${READ} ${tell('{ completion: JSON.stringify(asked) }')}`);
    const said = await completionOf(call, { call_id: 'c7', system: 'S', prompt: '{"ö":1}', max_output_tokens: 50 });
    assert.deepEqual(JSON.parse(said), { call_id: 'c7', system: 'S', prompt: '{"ö":1}', max_output_tokens: 50 });
  });

  test('PATH, HOME, LANG, what is listed, its depth and call; nothing else', async () => {
    const variables = { LANG: 'C', LISTED: 'yes', ANTHROPIC_API_KEY: 'hunter2-hunter2', TALARIA_HOME: '/x' };
    const call = program(tell('{ completion: JSON.stringify(process.env) }'), {
      variables,
      env: ['LISTED', 'ABSENT'],
      outside: 2,
    });
    const { PATH, ...rest } = JSON.parse(await completionOf(call)) as Record<string, string>;
    assert.equal(PATH, ownPath(process.env.PATH));
    assert.deepEqual(rest, {
      HOME: '/nowhere',
      LANG: 'C',
      LISTED: 'yes',
      TALARIA_RLM_DEPTH: '3',
      TALARIA_RLM_CALL_ID: 'call_1',
    });
  });

  test('an empty folder of its own, which is gone afterwards with what it wrote', async () => {
    const code = `require('fs').writeFileSync('made', 'x'); ${tell("{ completion: process.cwd() + ' ' + require('fs').readdirSync('.') }")}`;
    const [cwd, files] = (await completionOf(program(code))).split(' ');
    assert.equal(files, 'made');
    assert.ok(cwd !== undefined && cwd !== process.cwd() && !existsSync(cwd), cwd);
  });

  test('arguments are filled in as they are; no shell reads them, and a placeholder in a prompt is text', async () => {
    const args = [
      process.execPath,
      '-e',
      'process.stdout.write(JSON.stringify(process.argv.slice(1)))',
      '--',
      'p={prompt}',
      '{system}',
      '{x}',
      '{max_output_tokens}',
    ];
    const call = program('', { command: args });
    const prompt = `$(touch /tmp/never) "; rm -rf ~ \n {system} $& 'q'`;
    assert.deepEqual(JSON.parse(await completionOf(call, { prompt, system: '`id`' })), [
      `p=${prompt}`,
      '`id`',
      '{x}',
      '1000',
    ]);
  });

  test('without a place for it the system prompt stands before the prompt', async () => {
    const call = program('process.stdin.pipe(process.stdout)', { input: 'prompt' });
    assert.equal(await completionOf(call, { system: 'Rules.', prompt: 'Task.' }), 'Rules.\n\nTask.');
    const argument = [process.execPath, '-e', 'process.stdout.write(process.argv[1])', '{prompt}'];
    assert.equal(
      await completionOf(program('', { command: argument }), { system: 'Rules.', prompt: 'Task.' }),
      'Rules.\n\nTask.',
    );
  });

  test('a prompt too long for an argument is named before anything starts; on standard input it passes', async () => {
    const prompt = 'x'.repeat(300_000);
    const argument = program('', { command: [process.execPath, '-e', 'process.stdout.write("hi")', '{prompt}'] });
    const { reason, detail } = await refusalOf(argument, { prompt });
    assert.equal(reason, 'runtime_error');
    assert.match(detail, /300\d+ bytes is too long for an argument.*rlm\.families\.small\.command/);
    assert.equal(
      await completionOf(program(`${READ} ${tell('{ completion: String(asked.prompt.length) }')}`), { prompt }),
      '300000',
    );
  });

  test('a program that does not read its input answers all the same', async () => {
    const call = program(`process.stdin.destroy(); process.stdout.write('done')`);
    assert.equal(await completionOf(call, { prompt: 'x'.repeat(5_000_000) }), 'done');
  });
});

describe('process call: what the program answers', () => {
  test('model, tokens and cost as far as they are told and make sense', async () => {
    const usage = { input_tokens: 12, output_tokens: 3 };
    const told = await ask(
      program(tell(`{ completion: 'A', model: 'x/y', usage: ${JSON.stringify(usage)}, cost: 0.25 }`)),
    );
    assert.ok(told.ok);
    const { elapsed_ms, ...facts } = told.value;
    assert.ok(elapsed_ms > 0);
    assert.deepEqual(facts, { completion: 'A', model: 'x/y', usage, cost: 0.25, exit_code: 0 });
    const wrong = await ask(
      program(tell(`{ completion: 'A', model: 7, usage: { input_tokens: -1 }, cost: 'much' }`), { model: 'fallback' }),
    );
    assert.ok(wrong.ok);
    assert.deepEqual([wrong.value.model, wrong.value.usage, wrong.value.cost], ['fallback', null, null]);
    const plain = await ask(program(`console.log('{"verdict":"passed"}')`));
    assert.ok(plain.ok);
    assert.equal(plain.value.completion, '{"verdict":"passed"}');
    assert.match(plain.value.model, /^node/);
  });

  test('bytes that are no UTF-8 become U+FFFD; half a character at the end is left out', async () => {
    const bytes = [0x41, 0xff, 0xfe, 0x42, 0xc3, 0xa4, 0xed, 0xa0, 0x80, 0x43, 0xe2, 0x82];
    const said = await completionOf(program(`process.stdout.write(Buffer.from(${JSON.stringify(bytes)}))`));
    assert.match(said, /^A\uFFFD+Bä\uFFFD+C/);
    assert.ok(said.isWellFormed());
    assert.equal(readProcessReply('{"completion":"\\ud800"}').completion, '\uFFFD');
  });

  test('what it says on standard error is no answer, and stands in the reason, without secrets', async () => {
    const call = program(`console.error('warn '.repeat(3000) + 'the key hunter2-hunter2 is wrong')`);
    const { reason, detail } = await refusalOf(call);
    assert.equal(reason, 'runtime_error');
    assert.match(detail, /printed no answer: ….*the key \[secret\] is wrong$/);
    assert.ok(detail.length < 600, String(detail.length));
  });

  test('another exit code than 0 is kept, whatever it printed', async () => {
    const refused = await refusalOf(
      program(`console.log('{"completion":"A"}'); console.error('rate limit'); process.exitCode = 7`),
    );
    assert.equal(refused.reason, 'runtime_unsuccessful');
    assert.equal(refused.exit_code, 7);
    assert.match(refused.detail, /^small \(node\S*\) ended with exit code 7: rate limit$/);
  });

  test('a program that dies is named with its signal', async () => {
    const { reason, detail } = await refusalOf(
      program(`process.stdout.write('{"compl'); process.kill(process.pid, 'SIGKILL')`),
    );
    assert.equal(reason, 'runtime_error');
    assert.match(detail, /SIGKILL/);
  });

  test('the frame of a chat program is taken off', () => {
    const framed = '\n╭─ Reasoning ───╮\n│ LC-001 │\n╰──────╯\n{"a":\n 1}\n\nsession_id: 20260101_ab\n';
    assert.equal(withoutFrame(framed), '{"a":\n 1}');
    const bare = '┌─ Other ─┐\n│ x │\n└─┘\nsession ids: 3';
    assert.equal(withoutFrame(bare), bare);
  });
});

describe('process call: ends', () => {
  slow('a program that hears no TERM, and its children, are gone when the call settles', async (t) => {
    const place = placeOf(t);
    const child = `process.on('SIGTERM', () => undefined); require('fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => undefined, 1000)`;
    const code = `process.on('SIGTERM', () => undefined);
      require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}, ${JSON.stringify(place)}], { stdio: 'inherit' });
      setInterval(() => undefined, 1000)`;
    const controller = new AbortController();
    const work = program(code).call(requestOf(), controller.signal);
    await until(() => existsSync(place) && readFileSync(place, 'utf8') !== '');
    controller.abort();
    const outcome = await work;
    assert.equal(outcome.ok ? '' : outcome.reason, 'cancelled');
    assert.equal(isAlive(Number(readFileSync(place, 'utf8'))), false);
  });

  test('children that it leaves behind are ended, its answer counts', async (t) => {
    const place = placeOf(t);
    const child = `require('fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => undefined, 1000)`;
    const code = `const child = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}, ${JSON.stringify(place)}], { stdio: 'ignore' });
      child.unref(); const wait = setInterval(() => { if (require('fs').existsSync(${JSON.stringify(place)})) { clearInterval(wait); process.stdout.write('done') } }, 10)`;
    assert.equal(await completionOf(program(code)), 'done');
    assert.equal(isAlive(Number(readFileSync(place, 'utf8'))), false);
  });

  test('a program that is not there is named, with what would mend it', async () => {
    for (const [name, hint] of [
      ['no-such-agent', /needs the program no-such-agent, which is not on the PATH; install it/],
      ['/no/such/agent', /needs the program \/no\/such\/agent, which is no program that can be run/],
      ['./agent', /absolute path/],
    ] as const) {
      const { reason, detail } = await refusalOf(program('', { command: [name] }));
      assert.equal(reason, 'no_model');
      assert.match(detail, hint);
    }
  });
});

function placeOf(t: TestContext): string {
  const folder = join(createTempHome(t).path, 'pids');
  mkdirSync(folder);
  writeFileSync(join(folder, 'readme'), '');
  return join(folder, 'pid');
}

function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^\d+ \(.*\) [ZX]/.test(stat);
  } catch {
    return false;
  }
}

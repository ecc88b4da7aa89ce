/** The mind in a process of its own: what it answers to whom, where it listens, and what its golem does when it is slow, stopped or dead. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { type Life, withLife } from '#fleet/golem/life.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { until } from '../../ends.ts';
import { realClock } from '../../ground.ts';
import { COMPILE_CACHE, MAIN } from '../../scenario/cli-process.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import * as golem from './stage.ts';

const PAD = { pleasure: 0, arousal: 0, dominance: 0 };
const SIGHT = { tick: 1, observation: golem.seen('inode quota volume'), pad: PAD, categories: ['incident'] };
const KNOWS = golem.taught('free-the-inodes', 'inode quota volume', ['drain'], { confidence: 0.8, useCount: 3 });

async function home(t: TestContext): Promise<golem.GolemStage> {
  const stage = golem.createGolemStage(t, { clock: realClock });
  await stage.create('ada');
  await stage.teach('ada', [KNOWS]);
  return stage;
}

/** A program in the home of the stage, and all that it says. */
function start(t: TestContext, { root, cwd }: golem.GolemStage, program: string, ...args: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: cwd, TALARIA_HOME: root, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const child = spawn(program, args, { cwd, env });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk;
    });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  return { child, ended, said: () => said };
}

const startMind = (t: TestContext, stage: golem.GolemStage, ...args: readonly string[]) =>
  start(t, stage, process.execPath, MAIN, 'golem', 'mind', 'ada', ...args);

/** One line out, one line in, in order. */
function talk(input: Readable, output: Writable) {
  const heard: JsonObject[] = [];
  const lines = createInterface({ input }).on('error', () => undefined);
  lines.on('line', (line) => {
    const read = parseJsonObject(line);
    assert.ok(read.ok, line);
    heard.push(read.value);
  });
  let asked = 0;
  const send = (...lines: readonly (string | object)[]) =>
    output.write(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  const of = async (id: unknown): Promise<JsonObject> => {
    await until(() => heard.some((one) => one.id === id));
    return heard.find((one) => one.id === id) ?? {};
  };
  const call = (method: string, params: object = {}) => {
    asked += 1;
    send({ jsonrpc: '2.0', id: `call-${asked}`, method, params });
    return of(`call-${asked}`);
  };
  return { heard, send, of, call, close: () => output.end() };
}

/** The file is there a moment before anybody listens. */
async function over(path: string) {
  let socket = connect(path).on('error', () => undefined);
  await until(() => {
    if (socket.destroyed) socket = connect(path).on('error', () => undefined);
    return socket.readyState === 'open';
  });
  return { socket, ...talk(socket, socket) };
}

const codeOf = ({ error }: JsonObject) => (error as JsonObject | undefined)?.code;
const mode = (path: string) => statSync(path).mode & 0o777;

/** Of the sockets of a process: those of the network that listen. */
function listeningPorts(pid: number | undefined): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  const own = new Set(readdirSync(folder).map((fd) => readlinkSync(join(folder, fd))));
  const rows = ['tcp', 'tcp6'].flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, 'utf8').trim().split('\n'));
  return rows.filter((row) => / 0A /.test(row) && own.has(`socket:[${row.trim().split(/\s+/)[9]}]`));
}

verifies.slow(
  ['R0.2', 'R0.3'],
  'it listens on a socket in its home, which is its owner’s, and on no port',
  async (t) => {
    const stage = await home(t);
    const { child, ended } = startMind(t, stage);
    const path = stage.at('ada', 'mind.sock');
    const { call } = await over(path);
    assert.deepEqual([mode(path), mode(stage.at('ada'))], [0o600, 0o700]);
    assert.deepEqual(listeningPorts(child.pid), []);
    const { result } = await call('health_check');
    assert.deepEqual(result, { name: 'bardo-hermes', layer: 2, needs: ['bardo-grimoire'], ok: true });
    assert.equal(codeOf(await call('hook.end')), -32002);
    await call('hook.session', { reason: 'start' });
    assert.deepEqual((await call('list_skills')).result, ['free-the-inodes']);
    assert.match(JSON.stringify((await call('get_skill', { name: 'free-the-inodes' })).result), /inode quota volume/);
    assert.match(JSON.stringify((await call('skills.search', { text: 'inode quota' })).result), /free-the-inodes/);
    assert.deepEqual((await call('skills.rollback', { name: 'nobody' })).result, { done: false });
    await call('hook.death', { tick: 1, cause: 'age' });
    assert.deepEqual([await ended, existsSync(path)], [0, false]);
  },
);

/** All that a golem in another language needs of its mind: a pipe in, a pipe out, and a line of JSON for a line of JSON. */
const CLIENT = `
mkfifo in out
"$@" golem mind ada --stdio < in > out &
exec 3> in 4< out
n=0
ask() {
  n=$((n + 1))
  printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\\n' "$n" "$1" "$2" >&3
  read -r reply <&4
  printf '%s %s\\n' "$1" "$reply"
  case $reply in *'"id":'"$n"',"result":'*) ;; *) exit 1 ;; esac
}
seen='{"text":"inode quota volume","tag":"incident","signals":[{"name":"incident","value":1}]}'
new='{"text":"postmaster tram line","tag":"incident","signals":[]}'
act='{"tool":"sim","label":"drain","status":"ok","has_changed":true,"ms":1}'
ends='{"verified":true,"success":true,"summary":"cured","source":"sh"}'
ask health_check '{}'
ask hook.session '{"reason":"start"}'
ask hook.context '{"tick":1,"observation":'"$seen"',"pad":{"pleasure":0,"arousal":0,"dominance":0},"categories":["incident"]}'
ask hook.tool_result '{"feedback":{"skill":{"name":"free-the-inodes","version":1},"tool":"sim","success":true,"outcome_value":null,"tick":1,"context":"incident: drain"}}'
ask hook.after_turn '{"record":{"tick":1,"observation":'"$new"',"tier":"T2","deviated":false,"actions":['"$act,$act,$act"'],"outcome":'"$ends"'}}'
ask hook.dream_onset '{"tick":1,"budget_usd":0,"phase":"stable"}'
ask hook.end '{}'
ask hook.death '{"tick":3,"cause":"age"}'
wait
`;

verifies.slow('R0.3', 'a golem of thirty lines of shell drives all seven hooks', async (t) => {
  const stage = await home(t);
  const { ended, said } = start(t, stage, 'sh', '-c', CLIENT, 'sh', process.execPath, MAIN);
  assert.equal(await ended, 0, said());
  assert.match(said(), /^hook\.context .*"free-the-inodes"[\s\S]*^hook\.after_turn .*"drafted":true.*"SkillDrafted"/m);
  // Three uses before; what came of this one was stored, and learned from. Its end is the tick that was lived, whatever is said.
  const testament = readFileSync(stage.at('ada', 'testament', 'ada-gen1.json'), 'utf8');
  assert.match(testament, /"death_tick":1,[\s\S]*"use_count":4\b/);
  assert.match((await stage.run('golem show', { name: 'ada' })).text, /tick 1 [\s\S]*tick 1 · T2 · itself · incident/);
});

slow('after death it refuses what was asked meanwhile, ends, and says the same when it is started again', async (t) => {
  const stage = await home(t);
  for (const cause of ['senescence', 'age']) {
    const mind = startMind(t, stage, '--stdio');
    const { send, of, close } = talk(mind.child.stdout, mind.child.stdin);
    send({ jsonrpc: '2.0', id: 1, method: 'hook.death', params: { tick: 3, cause } });
    send({ jsonrpc: '2.0', id: 2, method: 'hook.context', params: SIGHT });
    assert.match(JSON.stringify((await of(1)).result), /"skills":1\}/);
    assert.match(readFileSync(stage.at('ada', 'testament', 'ada-gen1.json'), 'utf8'), /"death_cause":"senescence"/);
    assert.equal(codeOf(await of(2)), -32004);
    if (cause === 'age') close();
    assert.equal(await mind.ended, 0, mind.said());
  }
});

slow('a second mind cannot end a golem that another process lives, and keeps none of its ticks', async (t) => {
  const stage = await home(t);
  await stage.life('ada', { domain: golem.quiet() }, async ({ golem: { rows } }) => {
    const { child } = startMind(t, stage, '--stdio');
    const { call } = talk(child.stdout, child.stdin);
    await call('hook.session', { reason: 'start' });
    await call('hook.after_turn', { record: golem.tickOf(500, 'a way', []) });
    assert.equal(codeOf(await call('hook.death', { tick: 3, cause: 'age' })), -32001);
    assert.deepEqual([rows.death(), rows.state()?.tick], [undefined, 0]);
  });
});

slow('a line that is no request gets its error, a notification nothing, and neither ends anything', async (t) => {
  const { child } = startMind(t, await home(t), '--stdio');
  const { send, of, heard, call, close } = talk(child.stdout, child.stdin);
  const asks = (method: unknown, params?: unknown, id?: unknown) => ({ jsonrpc: '2.0', method, params, id });
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => (byte === 10 ? 0 : byte))).toString('latin1');
  send('', '   ', '{"jsonrpc":', bytes, '['.repeat(200_000));
  send('null', '42', {}, [asks('health_check', {}, 1), asks('list_skills', {}, 2)], asks(7, {}, 4));
  send({ ...asks('list_skills', {}, 3), jsonrpc: '1.0' }, asks('list_skills', {}, { an: 'object' }), { id: 'call-9' });
  send(asks('hook.session', { reason: 'start' }), asks('no.such.method'), asks('get_skill', {}), asks('list_skills'));
  const wrong: readonly (readonly [code: number, method: string, params?: unknown])[] = [
    ...['', 'hook', 'hook.session ', 'constructor', '__proto__', 'tools.run'].map((name) => [-32601, name] as const),
    [-32602, 'hook.session'],
    [-32602, 'hook.session', { reason: 'curiosity' }],
    [-32602, 'list_skills', ['by position']],
    [-32602, 'hook.context', { ...SIGHT, observation: {} }],
    [-32602, 'hook.context', { ...SIGHT, pad: {} }],
    [-32602, 'hook.tool_result', { feedback: { tool: 'sim' } }],
    [-32602, 'hook.after_turn', { record: { ...golem.tickOf(1, 'a way', []), actions: [null] } }],
    [-32602, 'hook.dream_onset', { tick: 1, budget_usd: 1, phase: 'wild' }],
    [-32602, 'hook.death', { tick: 1, cause: 'boredom' }],
    [-32602, 'hook.death', { tick: -0.5, cause: 'age' }],
    [-32602, 'get_skill', { name: 7 }],
  ];
  for (const [at, [code, method, params]] of wrong.entries()) {
    send(asks(method, params, at));
    assert.equal(codeOf(await of(at)), code, method);
  }
  // It lives, knows what the notifications asked of it, and answers by id in whatever order it is done.
  assert.deepEqual((await call('list_skills')).result, ['free-the-inodes']);
  send(asks('hook.context', SIGHT, 'late'), asks('health_check', {}, 'soon'));
  await Promise.all([of('late'), of('soon')]);
  const nobodys = heard.filter(({ id }) => id === null).map(codeOf);
  assert.deepEqual(nobodys.toSorted(), [...Array(8).fill(-32600), ...Array(3).fill(-32700)]);
  assert.equal(heard.length, nobodys.length + wrong.length + 3);
  close();
});

slow('a line of more than 10 MB ends its connection and no other', async (t) => {
  const stage = await home(t);
  startMind(t, stage, '--socket', 'here.sock');
  const path = join(stage.cwd, 'here.sock');
  const [first, second] = [await over(path), await over(path)];
  assert.equal(codeOf(await second.call('get_skill', { name: 'x'.repeat(9 * 1024 ** 2) })), undefined);
  const closed = new Promise((done) => first.socket.on('error', () => undefined).once('close', done));
  first.send('x'.repeat(11 * 1024 ** 2));
  await closed;
  assert.ok(first.heard.every((one) => codeOf(one) === -32600));
  assert.equal(codeOf(await second.call('health_check')), undefined);
});

test('a socket of the dead is taken over and one of the living is not; its folder stays as it was', async (t) => {
  const stage = await home(t);
  mkdirSync(join(stage.cwd, 'shared'), { mode: 0o755 });
  const path = join(stage.cwd, 'shared/mind.sock');
  const first = startMind(t, stage, '--socket', path);
  await (await over(path)).call('health_check');
  const second = startMind(t, stage, '--socket', path);
  assert.notEqual(await second.ended, 0);
  assert.match(second.said(), /is answered by another process[\s\S]*hermes\.socket/);
  const notes = join(stage.cwd, 'notes.txt');
  writeFileSync(notes, 'mine');
  const onFile = startMind(t, stage, '--socket', notes);
  assert.notEqual(await onFile.ended, 0);
  assert.match(onFile.said(), /notes\.txt is no socket/);
  assert.equal(readFileSync(notes, 'utf8'), 'mine');
  assert.deepEqual([mode(path), mode(resolve(path, '..'))], [0o600, 0o755]);
  first.child.kill('SIGKILL');
  await first.ended;
  assert.ok(existsSync(path));
  const third = startMind(t, stage, '--socket', path, '--once');
  await until(() => {
    const looking = connect(path);
    const looked = new Promise((done) => looking.once('connect', done).once('error', done));
    return looked.then((error) => error === undefined).finally(() => looking.destroy());
  });
  const caller = await over(path);
  assert.equal(codeOf(await caller.call('health_check')), undefined);
  caller.close();
  assert.equal(await third.ended, 0);
});

slow('where a path is too long for a socket, it lies in a private folder elsewhere', async (t) => {
  const stage = await home(t);
  const { child, ended } = startMind(t, stage, '--socket', join(stage.cwd, 'd'.repeat(120), 'mind.sock'));
  const found = () => /\S+(?=\/[0-9a-f]{24}\.sock)/.exec(readFileSync('/proc/net/unix', 'utf8'))?.[0];
  await until(() => found() !== undefined);
  assert.equal(mode(found() ?? ''), 0o700);
  child.kill('SIGTERM');
  await ended;
});

/** A mind in a few lines of another program. It leaves unanswered what `mute` names, and writes down who called what. */
const FAKE = `
const fs = require('node:fs');
const [, , , , , , path] = process.argv;
const folder = __dirname;
const mute = () => fs.readFileSync(folder + '/mute', 'utf8').split(' ');
const values = { 'hook.session': { count: 0 }, 'hook.context': { query: '', procedures: [] }, 'hook.tool_result': { queued: false },
  'hook.after_turn': { drafted: false }, 'hook.end': { skills: 0 }, 'hook.death': { path: __filename, skills: 0 } };
fs.rmSync(path, { force: true });
require('node:net').createServer((socket) => {
  require('node:readline').createInterface({ input: socket }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    fs.appendFileSync(folder + '/calls', process.pid + ' ' + method + '\\n');
    if (mute().includes(method)) return;
    const result = method === 'health_check' ? { name: 'bardo-hermes' } : { value: values[method], events: [], cost: { usd: 0, tokens: 0 } };
    socket.write(JSON.stringify({ jsonrpc: '2.0', id: 'nobody asked', result }) + '\\nno JSON\\n');
    socket.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  });
  socket.on('error', () => undefined).on('close', () => process.exit());
}).listen(path);
`;

function withFakeMind(life: Life, folder: string, advance: (ms: number) => Promise<void>) {
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return {
    ...{ life, advance },
    tick: async () => (await golem.liveTicks(life, 1)).records[0] as golem.TickRecord,
    mute: (methods: string) => writeFileSync(join(folder, 'mute'), methods),
    /** Process and method of each call so far. */
    calls: () => calls().map((row) => [Number.parseInt(row, 10), row.split(' ')[1]] as const),
  };
}

/** Lives with the fake for its sidecar; patience and looks are on a clock that is turned by hand, waiting for the process is not. */
async function withFake(t: TestContext, work: (fake: ReturnType<typeof withFakeMind>) => Promise<void>): Promise<void> {
  const manual = createManualClock();
  const stage = golem.createGolemStage(t, { clock: { ...manual, sleep: realClock.sleep } });
  await stage.create('ada', { toml: '[hermes]\nmode = "sidecar"\n\n[heartbeat]\nbase_interval_seconds = 0.001\n' });
  const program = join(stage.cwd, 'fake.cjs');
  writeFileSync(program, FAKE);
  writeFileSync(join(stage.cwd, 'mute'), '');
  const ground = { ...stage.ground, program: [process.execPath, program] };
  const cure = () => ['drain'];
  const domain = golem.scriptedDomain(() => golem.seen('inode quota volume'), cure);
  const done = await withLife(ground, 'ada', { models: false, domain }, (life) =>
    work(withFakeMind(life, stage.cwd, manual.advance)),
  );
  assert.ok(done.ok, done.ok ? '' : done.detail);
}

verifies('R0.4', 'a golem lives with a mind that is another program, and asks it nothing beyond the hooks', (t) =>
  withFake(t, async ({ tick, calls, life }) => {
    assert.deepEqual((await tick()).faults, []);
    const asked = calls().map(([, method]) => method);
    assert.deepEqual(asked.slice(0, 3), ['health_check', 'hook.session', 'hook.context']);
    assert.deepEqual([asked.at(-1), new Set(asked).size], ['hook.after_turn', 5]);
    assert.equal((await life.end('owner-kill', golem.never)).phase, 'done');
    assert.equal(calls().at(-1)?.[1], 'hook.death');
  }),
);

test('a tick waits 5 s for a slow mind and then goes on without', (t) =>
  withFake(t, async ({ tick, calls, mute, advance }) => {
    mute('hook.context');
    const lived: golem.TickRecord[] = [];
    const living = tick().then((record) => lived.push(record));
    await until(() => calls().some(([, method]) => method === 'hook.context'));
    await advance(4_999);
    assert.equal(lived.length, 0);
    await advance(1);
    await living;
    assert.deepEqual(lived[0]?.faults, ['mind: it did not answer within 5 s']);
    assert.deepEqual([lived[0]?.tick, lived[0]?.outcome?.success, lived[0]?.procedures], [1, true, []]);
    mute('');
    assert.deepEqual((await tick()).faults, []);
  }));

test('a mind that was killed costs nothing but itself: the tick goes on at once, and it is started again', (t) =>
  withFake(t, async ({ tick, calls }) => {
    await tick();
    const [pid] = calls()[0] ?? [0];
    process.kill(pid, 'SIGKILL');
    await until(async () => (await tick()).faults.some((fault) => /the mind is (?:gone|starting again)/.test(fault)));
    await until(() => calls().some(([other, method]) => other !== pid && method === 'hook.session'));
    await until(async () => (await tick()).faults.length === 0);
  }));

slow('one that answers three looks in a row with nothing is ended, however it hangs, and started again', (t) =>
  withFake(t, async ({ tick, calls, advance }) => {
    await tick();
    const [pid] = calls()[0] ?? [0];
    process.kill(pid, 'SIGSTOP');
    for (let look = 0; look < 3; look += 1) {
      assert.ok(calls().every(([one]) => one === pid));
      await advance(30_000);
      await advance(5_000);
    }
    await until(() => calls().some(([one, method]) => one !== pid && method === 'hook.session'));
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    assert.deepEqual((await tick()).faults, []);
  }),
);

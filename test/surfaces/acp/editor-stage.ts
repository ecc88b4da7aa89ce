/** An editor: the library's own client over a real `talaria acp`, with all that came on its standard output; and one that is killed again and again. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type * as acp from '@agentclientprotocol/sdk';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { seededRandom } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import type { Teardown } from '#testing/temp-home.ts';
import { until } from '../../ends.ts';
import { realClock } from '../../ground.ts';
import { COMPILE_CACHE, createCliStage, MAIN, withoutWalls } from '../../scenario/cli-process.ts';

type Choice = (asked: acp.RequestPermissionRequest) => string | undefined | Promise<string | undefined>;

export const call = (name: string, given: JsonObject): ServerStep => ({ calls: [{ name, arguments: given }] });

/** A home whose model is at this address, and whose commands run without walls. */
export function placeFor(t: Teardown, baseUrl: string, config = '') {
  const { root, cwd, folder, run } = withoutWalls(createCliStage(t));
  appendFileSync(join(root, 'config.yaml'), `model: openai/gpt-4o\n${config}`);
  const env = { PATH: process.env.PATH ?? '', HOME: folder, TALARIA_HOME: root, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const model = { OPENAI_API_KEY: 'a-key-for-tests', OPENAI_BASE_URL: baseUrl };
  const talaria = (...args: readonly string[]) => run(args, { env: model });
  return { root, cwd, folder, talaria, env: { ...env, ...model } };
}

/** @param choose id of the option that the person takes; undefined: the question is cancelled */
export function createEditor(streams: acp.Stream, choose: Choice = () => undefined) {
  const told: acp.SessionNotification[] = [];
  const asked: acp.RequestPermissionRequest[] = [];
  const { agent } = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => void told.push(params))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      const { toolCallId: id, title } = params.toolCall;
      assert.ok(title ?? told.some(({ update }) => 'toolCallId' in update && update.toolCallId === id), 'not told yet');
      const optionId = await choose(params);
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
    })
    .connect(streams);
  const { initialize, session } = methods.agent;
  const send = (sessionId: string, prompt: acp.ContentBlock[]) => agent.request(session.prompt, { sessionId, prompt });
  const of = <Of extends acp.SessionUpdate['sessionUpdate']>(kind: Of, id?: string) =>
    told.flatMap(({ update, sessionId }) =>
      update.sessionUpdate === kind && (id ?? sessionId) === sessionId
        ? [update as Extract<acp.SessionUpdate, { sessionUpdate: Of }>]
        : [],
    );
  return {
    ...{ agent, asked, told, of, send },
    text: (who: 'agent_message' | 'agent_thought' | 'user_message', id?: string) =>
      of(`${who}_chunk`, id).reduce((all, { content }) => all + ('text' in content ? content.text : content.type), ''),
    initialize: () => agent.request(initialize, { protocolVersion: 1 }),
    begin: async (cwd: string, mcpServers: acp.McpServer[] = []) =>
      (await agent.request(session.new, { cwd, mcpServers })).sessionId,
    load: (sessionId: string, cwd: string) => agent.request(session.load, { sessionId, cwd, mcpServers: [] }),
    say: async (id: string, words: string) => (await send(id, [{ type: 'text', text: words }])).stopReason,
    set: (sessionId: string, configId: string, value: string) =>
      agent.request(session.setConfigOption, { sessionId, configId, value }),
    list: async (cwd?: string) => (await agent.request(session.list, cwd === undefined ? {} : { cwd })).sessions,
  };
}

export async function startEditor(t: Teardown, place: ReturnType<typeof placeFor>, choose?: Choice) {
  const child = spawn(process.execPath, [MAIN, 'acp'], { ...place, stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  const [bytes, kept] = (Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>).tee();
  const reading = Array.fromAsync(kept.pipeThrough(new TextDecoderStream()), (text) => {
    out += text;
  });
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const editor = createEditor(ndJsonStream(Writable.toWeb(child.stdin) as WritableStream<Uint8Array>, bytes), choose);
  const kill = () => {
    child.kill('SIGKILL');
    return ended;
  };
  t.after(() => void kill());
  /** Its input ends: it must end with it, and have spoken the protocol alone. */
  const leave = async () => {
    child.stdin.end();
    assert.equal(await ended, 0);
    await reading;
    for (const line of out.split('\n').slice(0, -1)) assert.equal(JSON.parse(line).jsonrpc, '2.0', line);
    assert.ok(out.endsWith('\n'), out.slice(-200));
  };
  return { ...editor, hello: await editor.initialize(), kill, leave };
}

/** An editor with a session, and a model that answers these steps. */
export async function openEditor(t: Teardown, steps: readonly ServerStep[], { choose, config }: Wish = {}) {
  const started: Awaited<ReturnType<typeof startEditor>>[] = [];
  // First: what is left of the script is an error, and the hooks behind that one do not run.
  t.after(() => void started[0]?.kill());
  const server = await startScriptedServer(steps, { models: ['gpt-4o', 'other'], context: t });
  const place = placeFor(t, server.baseUrl, config);
  const editor = await startEditor(t, place, choose);
  started.push(editor);
  return { server, place, editor, sessionId: await editor.begin(place.cwd) };
}

type Wish = { readonly choose?: Choice; readonly config?: string };

/** What an editor is told when it was wrong, or when something failed. */
export async function errorOf(answer: Promise<unknown>) {
  const error = Object(await answer.catch((thrown: unknown) => thrown));
  return { code: error.code, message: error.message, reason: error.data?.code, fix: error.data?.fix };
}

/**
 * kill −9 at random moments: in an edit, a question, a command that is being stopped. Every session that an editor was told of loads again, with
 * what was asked in it. What was seen until then is counted.
 */
export async function killAtRandom(t: Teardown, runs: number, seed = Number(process.env.SEED ?? 4711)) {
  const random = seededRandom(seed);
  const answer: ServerStep = ({ body }) => {
    const last = JSON.stringify((body.messages as JsonObject[]).at(-1));
    if (last.includes('"edit"')) return call('write_file', { path: 'a.txt', content: `${random()}` });
    if (last.includes('"ask"')) return call('write_file', { path: '.git/hooks/pre-commit', content: `${random()}` });
    return last.includes('"wait"') ? call('terminal', { command: 'sleep 30' }) : 'Done.';
  };
  const server = await startScriptedServer(Array(runs * 20).fill(answer), { models: ['gpt-4o'] });
  t.after(() => server.close());
  const place = placeFor(t, server.baseUrl);
  const seen = new Map<string, string>();
  const counts = { calls: 0, diffs: 0, asked: 0, cancelled: 0 };
  const loads = async (editor: Awaited<ReturnType<typeof startEditor>>, ids: readonly string[]) => {
    for (const id of ids) {
      await editor.load(id, place.cwd);
      assert.ok(editor.text('user_message', id).startsWith(seen.get(id) ?? ''), `session ${id}, seed ${seed}`);
    }
  };
  for (let run = 0; run < runs; run += 1) {
    const editor = await startEditor(t, place, () => 'once');
    await loads(editor, [...seen.keys()].slice(-1));
    const id = await editor.begin(place.cwd);
    seen.set(id, '');
    let isKilled = false;
    const calls = () => editor.of('tool_call', id).length;
    const stop = async () => {
      const [before, said] = [calls(), editor.say(id, 'wait')];
      await Promise.race([said, until(() => isKilled || calls() > before)]);
      const from = realClock.monotonic();
      await editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
      assert.equal(await said, 'cancelled');
      assert.ok(realClock.monotonic() - from < 3_000);
      counts.cancelled += 1;
    };
    const talk = async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        for (const words of ['edit', 'ask']) assert.equal(await editor.say(id, words), 'end_turn');
        await stop();
      }
    };
    const talking = talk().catch((error: unknown) => {
      if (!isKilled || error instanceof assert.AssertionError) throw error;
    });
    const updates = Math.floor(random() * 20);
    const toldOf = () => editor.told.filter(({ sessionId }) => sessionId === id).length;
    await Promise.race([talking, until(() => isKilled || toldOf() >= updates)]);
    await realClock.sleep(random() * 20);
    isKilled = true;
    await Promise.all([editor.kill(), talking]);
    if (calls() > 0) seen.set(id, 'edit');
    const diffs = editor.of('tool_call_update', id).filter(({ content }) => content?.[0]?.type === 'diff');
    counts.calls += calls();
    counts.diffs += diffs.length;
    counts.asked += editor.asked.length;
  }
  const last = await startEditor(t, place);
  await loads(last, [...seen.keys()]);
  await last.leave();
  return counts;
}

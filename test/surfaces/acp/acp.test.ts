import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { describe } from 'node:test';
import type * as acp from '@agentclientprotocol/sdk';
import { methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import { defineTool } from '#core/agent/tool.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { acpCommands } from '#surfaces/acp/commands.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import type { ServerStep } from '#testing/scripted-server.ts';
import { PICTURES } from '../../doubles/pictures.ts';
import { until } from '../../ends.ts';
import { realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';
import { createStage } from '../app/app-fixture.ts';
import { call, createEditor, errorOf, killAtRandom, openEditor, startEditor } from './editor-stage.ts';

const png = PICTURES.png.toString('base64');

describe('talaria acp', () => {
  verifies.slow(
    ['R5.80', 'R5.87', 'R5.208'],
    'says what it can do, names what is wrong, and ends with its input',
    async (t) => {
      const { place, editor, sessionId } = await openEditor(t, []);
      const { protocolVersion, agentInfo, agentCapabilities, authMethods } = editor.hello;
      assert.deepEqual([protocolVersion, agentInfo?.name, authMethods], [1, 'talaria', []]);
      assert.match(agentInfo?.version ?? '', /^\d+\.\d+/);
      assert.deepEqual(agentCapabilities, {
        ...{ loadSession: true, mcpCapabilities: { http: true }, sessionCapabilities: { list: {}, close: {} } },
        promptCapabilities: { image: true, embeddedContext: true },
      });
      const sse: acp.McpServer = { type: 'sse', name: 'old', url: 'http://localhost', headers: [] };
      const wrong = [
        ...['work', join(place.cwd, 'nothing'), place.folder].map((cwd) => editor.begin(cwd)),
        ...[
          editor.begin(place.cwd, [sse]),
          editor.set(sessionId, 'mode', 'bold'),
          editor.set(sessionId, 'colour', 'red'),
        ],
      ];
      for (const one of await Promise.all(wrong.map(errorOf))) assert.equal(one.code, -32_602, one.message);
      for (const id of ['nobody', 'last', sessionId.slice(0, 12)]) {
        const asked = [editor.load(id, place.cwd), editor.say(id, 'hello'), editor.set(id, 'mode', 'ask')];
        for (const { code, message, reason, fix } of await Promise.all(asked.map(errorOf))) {
          assert.deepEqual([code, reason], [-32_002, 'no-such-session']);
          assert.match(`${message} ${fix}`, new RegExp(`session ${id} .*session/list`));
        }
      }
      assert.equal((await errorOf(editor.agent.request('session/dance', {}))).code, -32_601);
      await editor.leave();
    },
  );

  verifies.slow(
    ['R5.81', 'R5.83'],
    'takes text, pictures and resources as foreign parts, and tells them again',
    async (t) => {
      const { server, place, editor, sessionId } = await openEditor(t, [{ reasoning: 'Let me see.', reply: 'A dot.' }]);
      const audio = { type: 'audio' as const, data: png, mimeType: 'audio/wav' };
      const wrong = [[audio], [], [{ type: 'image' as const, data: 'bm8=', mimeType: 'image/png' }]];
      const errors = await Promise.all(wrong.map((blocks) => errorOf(editor.send(sessionId, blocks))));
      const reasons = errors.map(({ code, reason }) => `${code} ${reason}`);
      assert.deepEqual(reasons, ['-32602 no-audio', '-32602 empty-prompt', '-32602 no-image']);
      await editor.send(sessionId, [
        { type: 'text', text: 'Compare' },
        { type: 'resource', resource: { uri: 'file:///a/main.rs', text: 'fn main() {}' } },
        { type: 'resource_link', name: 'notes.md', uri: 'file:///a/notes.md' },
        { type: 'image', data: png, mimeType: 'image/png', uri: 'file:///a/dot.png' },
      ]);
      assert.deepEqual(editor.text('agent_thought') + editor.text('agent_message'), 'Let me see.A dot.');
      assert.ok(JSON.stringify(server.requests[0]?.body.messages).includes(`data:image/png;base64,${png}`));
      const other = await startEditor(t, place);
      assert.equal((await errorOf(other.load(sessionId, place.cwd))).reason, 'owned-elsewhere');
      await editor.leave();
      await other.load(sessionId, place.cwd);
      const again =
        /^\[file \/a\/main\.rs\]\nfn main\(\) \{\}\n.*\[link.*notes\.md.*\]imageCompare\n@main\.rs\n@notes\.md$/s;
      assert.match(other.text('user_message'), again);
      assert.equal(other.text('agent_message'), 'A dot.');
      assert.equal((await other.list(place.cwd)).map((one) => one.sessionId).join(), sessionId);
      assert.deepEqual(await other.list(place.folder), []);
      await other.leave();
      const store = createSqliteSessionStore({ path: join(place.root, 'state.db'), readOnly: true });
      const [stored] = await store.messages(sessionId);
      await store.close();
      const parts = stored?.message.parts.map(({ origin, type }) => `${origin} ${type}`);
      assert.deepEqual(parts, ['foreign text', 'foreign text', 'foreign image', 'owner text']);
    },
  );

  verifies.slow(['R5.84', 'R5.85'], 'tells calls, differences and the plan, and asks; cancelled is no', async (t) => {
    const todos = ['completed', 'in_progress'].map((status) => ({ content: `What is ${status}`, status }));
    const steps = [
      call('todo', { todos }),
      call('write_file', { path: 'new.txt', content: 'one\ntwo\n' }),
      call('patch', { path: 'old.txt', old_string: 'two', new_string: 'TWO' }),
      call('read_file', { path: 'old.txt', offset: 2 }),
      call('search_files', { pattern: 'TWO' }),
      ...Array(3).fill(call('terminal', { command: 'rm old.txt' })),
      call('clarify', { question: 'Which?', choices: ['red', 'blue'] }),
      'Done.',
    ];
    const answers = [undefined, 'what was not offered', 'once', '1'];
    const { place, editor, sessionId } = await openEditor(t, steps, { choose: () => answers.shift() });
    const [path, made] = [join(place.cwd, 'old.txt'), join(place.cwd, 'new.txt')];
    writeFileSync(path, 'one\ntwo\nthree\n');
    assert.equal(await editor.say(sessionId, 'go'), 'end_turn');
    const calls = editor.of('tool_call');
    assert.equal(calls.map(({ kind }) => kind).join(' '), 'think edit edit read search execute execute execute other');
    assert.deepEqual(calls[3]?.locations, [{ path, line: 2 }]);
    const { title, rawInput, status, toolCallId } = calls[5] ?? {};
    assert.deepEqual([title, rawInput, status], ['$ rm old.txt', { command: 'rm old.txt' }, 'in_progress']);
    const updates = editor.of('tool_call_update');
    const last = calls.map((one) => updates.findLast((update) => update.toolCallId === one.toolCallId));
    const diffs = [1, 2, 7].map((i) => last[i]?.content?.[0]);
    const [old, now] = ['one\ntwo\nthree\n', 'one\nTWO\nthree\n'];
    assert.deepEqual(diffs, [
      { type: 'diff', path: made, oldText: null, newText: 'one\ntwo\n' },
      { type: 'diff', path, oldText: old, newText: now },
      { type: 'diff', path, oldText: now, newText: '' },
    ]);
    assert.equal(last.map((one) => one?.status?.[0]).join(''), 'cccccffcc');
    assert.ok(updates.some(({ kind }) => kind === 'delete'));
    const entries = editor.of('plan')[0]?.entries.map(({ content, status: state }) => ({ content, status: state }));
    assert.deepEqual(entries, todos);
    const [risky, , , question, ...rest] = editor.asked;
    assert.equal(risky?.options.map(({ kind }) => kind).join(), 'allow_once,allow_always,reject_once');
    assert.equal(risky?.toolCall.toolCallId, toolCallId);
    assert.match(JSON.stringify(risky?.toolCall.content), /rm old\.txt/);
    const offered = [question?.toolCall.title, ...(question?.options.map(({ name }) => name) ?? []), ...rest];
    assert.deepEqual(offered, ['Which?', 'red', 'blue', 'Reject']);
    assert.match(JSON.stringify(last[8]?.content), /answered: blue/);
    await editor.leave();
  });

  verifies.slow(
    'R5.86',
    'says how a turn ended, what failed with code and fix, and answers a cancel at once',
    async (t) => {
      const steps: ServerStep[] = [
        ...[call('todo', {}), call('todo', { todos: [] }), 'Enough.'],
        ...[
          { reply: 'I will not.', finish: 'refusal' as const },
          { reply: 'And then', finish: 'length' as const },
        ],
        { status: 401, body: { error: { message: 'bad key' } } },
        { fault: 'hang-after' },
        call('terminal', { command: 'echo $$ > pid; sleep 600' }),
      ];
      const wish = { choose: () => 'once', config: 'agent:\n  max_steps: 2\n' };
      const { server, place, editor, sessionId } = await openEditor(t, steps, wish);
      const ends = [];
      for (const words of ['look', 'do evil', 'a long one']) ends.push(await editor.say(sessionId, words));
      assert.deepEqual(ends, ['max_turn_requests', 'refusal', 'max_tokens']);
      const { code, reason, fix } = await errorOf(editor.say(sessionId, 'fail'));
      assert.deepEqual([code, reason, fix !== ''], [-32_603, 'model-auth', true]);
      const pid = join(place.cwd, 'pid');
      for (const isRunning of [() => server.requests.length > 6, () => existsSync(pid)]) {
        const turns = [editor.say(sessionId, 'wait'), editor.say(sessionId, 'and then')];
        await until(isRunning);
        const from = realClock.monotonic();
        await editor.agent.notify(methods.agent.session.cancel, { sessionId });
        assert.deepEqual(await Promise.all(turns), ['cancelled', 'cancelled']);
        assert.ok(realClock.monotonic() - from < 3_000);
      }
      await editor.leave();
      assert.throws(() => process.kill(Number(readFileSync(pid, 'utf8')), 0), { code: 'ESRCH' });
    },
  );

  verifies.slow(
    ['R5.81', 'R5.85'],
    'runs sessions side by side, each with folder, mode and model of its own',
    async (t) => {
      const answer: ServerStep = ({ body }) => {
        const [last = {}] = (body.messages as JsonObject[]).slice(-1);
        if (last.role === 'tool') return `${body.model} done. `;
        if (JSON.stringify(last).includes('write')) return call('write_file', { path: 'made.txt', content: 'x' });
        return call('terminal', { command: 'rm old.txt' });
      };
      const waiting = Promise.withResolvers<string>();
      const { place, editor } = await openEditor(t, Array(8).fill(answer), { choose: () => waiting.promise });
      const [ours = '', theirs = ''] = ['a', 'b'].map((name) => join(place.cwd, name));
      for (const folder of [ours, theirs]) mkdirSync(folder);
      const fill = (folder: string) => writeFileSync(join(folder, 'old.txt'), 'old');
      const isThere = (folder: string) => existsSync(join(folder, 'old.txt'));
      for (const folder of [ours, theirs]) fill(folder);
      const [a, b] = [await editor.begin(ours), await editor.begin(theirs)];
      const { configOptions } = await editor.set(b, 'model', 'openai/other');
      assert.equal(configOptions.map(({ currentValue }) => currentValue).join(), 'ask,openai/other');
      await editor.agent.request(methods.agent.session.setMode, { sessionId: b, modeId: 'read-only' });
      const held = editor.say(a, 'remove');
      await until(() => editor.asked.length === 1);
      assert.equal(await editor.say(b, 'write'), 'end_turn');
      assert.match(JSON.stringify(editor.of('tool_call_update', b).at(-1)), /"failed".*only reading/);
      await editor.set(b, 'mode', 'auto');
      assert.equal(await editor.say(b, 'remove'), 'end_turn');
      assert.deepEqual([isThere(ours), isThere(theirs)], [true, false]);
      waiting.resolve('always');
      assert.equal(await held, 'end_turn');
      assert.equal(editor.text('agent_message', a), 'gpt-4o done. ');
      assert.equal(editor.text('agent_message', b), 'other done. other done. ');
      await editor.agent.request(methods.agent.session.close, { sessionId: a });
      assert.equal((await errorOf(editor.say(a, 'still there?'))).reason, 'no-such-session');
      for (const folder of [ours, ours]) await editor.load(a, folder);
      fill(ours);
      assert.equal(await editor.say(a, 'remove'), 'end_turn');
      assert.deepEqual([isThere(ours), editor.asked.length], [false, 1]);
      assert.deepEqual((await editor.list()).map(({ title }) => title).sort(), ['remove', 'write']);
      await editor.leave();
    },
  );

  verifies.slow(
    ['R5.82', 'R5.84', 'R5.208'],
    'gives servers to their session alone, and offers commands',
    async (t) => {
      const { log, info, debug } = console;
      t.after(() => void Object.assign(console, { log, info, debug }));
      const seen: unknown[] = [];
      const toolOf = (server: string) =>
        defineTool({
          ...{ name: `mcp__${server}__go`, description: 'Theirs.', toolset: 'servers', effect: 'read' as const },
          ...{ input: z.object({}), run: async () => ({ text: '' }) },
        });
      const sessionTools = async ({ servers = {} }: { readonly servers?: object }) => {
        seen.push(servers);
        return Object.keys(servers).map(toolOf);
      };
      const model = createScriptedModel(['hello', 'hello'], { context: t });
      const stage = createStage(t);
      const rooms = [{ name: 'servers', open: () => ({ sessionTools }) }];
      const app = await stage.open({ extra: { client: model, rooms } });
      const [input, output] = [new PassThrough(), new PassThrough()];
      const [command] = acpCommands({ version: '1.2.3', app: async () => app });
      const context = { cwd: stage.cwd, signal: new AbortController().signal, stdio: { input, output } };
      const served = command && Array.fromAsync(command.run({} as never, context));
      const answers = Readable.toWeb(output) as ReadableStream<Uint8Array>;
      const editor = createEditor(ndJsonStream(Writable.toWeb(input), answers));
      assert.equal((await errorOf(editor.begin(stage.cwd))).code, -32_600);
      await editor.initialize();
      assert.equal(console.log, console.error);
      const own = await editor.begin(stage.cwd, [
        { name: 'files', command: '/bin/files', args: ['-x'], env: [{ name: 'KEY', value: 'v' }] },
        { type: 'http', name: 'web', url: 'http://127.0.0.1:1/mcp', headers: [{ name: 'A', value: 'b' }] },
      ]);
      const files = { command: '/bin/files', args: ['-x'], env: { KEY: 'v' } };
      const other = await editor.begin(stage.cwd);
      assert.deepEqual(seen, [{ files, web: { url: 'http://127.0.0.1:1/mcp', headers: { A: 'b' } } }, {}]);
      for (const id of [own, other]) await editor.say(id, 'hi');
      const shown = model.requests.map(({ tools }) => tools.filter(({ name }) => name.startsWith('mcp__')).length);
      assert.deepEqual(shown, [2, 0]);
      await until(() => editor.of('available_commands_update').length === 2);
      const [{ availableCommands = [] } = {}] = editor.of('available_commands_update', own);
      assert.equal(availableCommands[0]?.name, 'compress');
      assert.equal(await editor.say(own, '/compress'), 'end_turn');
      input.end();
      assert.deepEqual(await served, []);
    },
  );

  verifies('R5.81', 'killed at any moment it leaves sessions that load again', async (t) => {
    await killAtRandom(t, 2);
  });

  verifies('R5.88', 'the guide has the settings of three editors, each two lines', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide/editors.md'), 'utf8');
    for (const name of ['Zed', 'JetBrains', 'Neovim']) {
      const section = guide.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
      const settings = section.split('```')[1]?.trim().split('\n').slice(1) ?? [];
      assert.equal(settings.length, 2, name);
      assert.match(settings.join('\n'), /talaria.*\bacp\b/s);
    }
  });
});

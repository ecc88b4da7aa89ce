import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { systemClock } from '#base/clock.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { TOOLSETS } from '#core/tools/tool-registry.ts';
import type { Ground, Room, TurnEvent } from '#public/talaria.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { createStage, openConversation, play } from './app-fixture.ts';

const echo: AnyTool = defineTool({
  name: 'echo',
  description: 'Echo a text.',
  input: z.object({ text: z.string() }),
  toolset: 'test',
  effect: 'write',
  risk: ({ text }) => {
    if (text !== 'risky' && text !== 'far') return { level: 'none' };
    const asked = { reason: 'the text is risky', key: text, preview: text };
    return { level: 'ask', ...asked, ...(text === 'risky' ? { reach: 'folder' } : {}) };
  },
  run: async ({ text }) => ({ text: `echo: ${text}` }),
});

const call = (text: string) => ({ calls: [{ name: 'echo', arguments: { text } }] });

describe('the home', () => {
  verifies('core:home:location', 'TALARIA_HOME, else .talaria below the person’s folder', () => {
    const at = (variables: Record<string, string>) =>
      findHome({ variables, cwd: '/projects', userHome: '/home/me' }).root;
    assert.equal(at({}), '/home/me/.talaria');
    assert.equal(at({ TALARIA_HOME: '/else/where' }), '/else/where');
    assert.equal(at({ TALARIA_HOME: 'here' }), '/projects/here');
    assert.equal(at({ TALARIA_HOME: '' }), '/home/me/.talaria');
  });

  verifies(
    ['core:home:private', 'core:home:one-folder'],
    'everything of a session lies below the home, private',
    async (t) => {
      const stage = createStage(t);
      const app = await stage.open({
        extra: { client: createScriptedModel([call('x'), 'done'], { context: t }), tools: [echo] },
      });
      const conversation = await openConversation(app);
      await play(conversation, 'go');
      const paths = ['.', ...readdirSync(stage.root, { recursive: true, encoding: 'utf8' })];
      for (const path of paths) {
        const facts = statSync(join(stage.root, path), { throwIfNoEntry: false });
        if (facts === undefined) continue; // the copy of the day is being made
        assert.equal(facts.mode & 0o777, facts.isDirectory() ? 0o700 : 0o600, path);
      }
      await app.shutdown();
      assert.deepEqual(readdirSync(stage.temp.path).sort(), ['home', 'work']);
      assert.deepEqual(readdirSync(stage.cwd), []);
    },
  );
});

describe('a composed agent', () => {
  verifies(
    ['core:home:found-keys-used', 'core:cli:header-names-model'],
    'a key in the environment is used at once and named with the reason',
    async (t) => {
      const server = await startScriptedServer(['Hello from the server.'], { models: ['m-1'], context: t });
      const stage = createStage(t, { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' });
      const app = await stage.open();
      assert.deepEqual(
        [app.model().id, app.model().tier, app.model().reason],
        ['openai/m-1', 'T2', 'OPENAI_API_KEY and OPENAI_BASE_URL are set'],
      );
      const { end } = await play(await openConversation(app), 'hi');
      assert.equal(end.text, 'Hello from the server.');
      assert.equal(
        (await app.firstScreen()).some((line) =>
          line.includes('openai/m-1 (T2): OPENAI_API_KEY and OPENAI_BASE_URL are set'),
        ),
        true,
      );
    },
  );

  verifies(
    'core:home:found-keys-used',
    'a key of .env is used, and the environment of the process wins over it',
    async (t) => {
      const stage = createStage(t);
      stage.temp.write('home/.env', 'GROQ_API_KEY=from-the-file\n');
      assert.match((await stage.open()).model().reason, /GROQ_API_KEY is set/);
    },
  );

  verifies(
    'core:reflex:first-screen',
    'the first screen: one line, what was found, three things to type here',
    async (t) => {
      const stage = createStage(t);
      stage.temp.write('work/notes.md', '# Notes');
      const app = await stage.open({ model: 'reflex' });
      const screen = await app.firstScreen();
      assert.match(screen[0] ?? '', /^Talaria: /);
      assert.ok(screen.some((line) => /reflex\/1 \(T0\)/.test(line)));
      const at = screen.indexOf('Try:');
      assert.equal(screen.length - at - 1, 3);
      assert.ok(screen.includes('  read notes.md'), screen.join('\n'));
      assert.ok(screen.some((line) => /cores, [\d.]+ GB memory/.test(line)));
    },
  );

  verifies(
    'core:cli:model-switch',
    'a switch in mid-session counts from the next step on, in the same session',
    async (t) => {
      const server = await startScriptedServer(['one', 'two'], { models: ['a', 'b'], context: t });
      const stage = createStage(t, { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' });
      const app = await stage.open();
      const conversation = await openConversation(app);
      assert.equal((await play(conversation, 'first')).end.model, 'openai/a');
      assert.ok((await app.switchModel('openai/b')).ok);
      assert.equal((await play(conversation, 'second')).end.model, 'openai/b');
      assert.equal((await app.doors.sessions.messages(conversation.session.id)).length, 4);
    },
  );

  verifies(
    'core:cli:model-switch',
    'a model that is added is tested with one call and used in the same session',
    async (t) => {
      const server = await startScriptedServer(['ok', 'after'], { models: ['fresh'], context: t });
      const stage = createStage(t);
      const app = await stage.open({ model: 'reflex' });
      const conversation = await openConversation(app);
      await play(conversation, 'before');
      const added = await app.addModel({ baseUrl: server.baseUrl }, new AbortController().signal);
      assert.ok(added.ok);
      const { end } = await play(conversation, 'go on');
      assert.deepEqual([end.text, end.tier], ['after', 'T2']);
      const again = await stage.open();
      assert.equal(again.model().id, added.value.id);
    },
  );

  verifies(
    'core:bad-input:missing-key',
    'a model of the command line whose key is missing ends with its variable',
    async (t) => {
      const stage = createStage(t);
      await assert.rejects(stage.open({ model: 'anthropic/claude' }), {
        code: 'missing-key',
        message: /ANTHROPIC_API_KEY/,
      });
    },
  );

  verifies('core:bad-input:corrupt-config', 'a broken configuration stops the start, and the file stays', async (t) => {
    const stage = createStage(t);
    const file = stage.temp.write('home/config.yaml', 'model: [\n');
    await assert.rejects(stage.open(), { code: 'config-invalid', message: /config\.yaml:\d+:\d+/ });
    assert.equal(readFileSync(file, 'utf8'), 'model: [\n');
    assert.equal(existsSync(join(stage.root, 'state.db')), false);
  });

  test('an unknown toolset of the command line is an error, one of the configuration a notice', async (t) => {
    const stage = createStage(t);
    await assert.rejects(stage.open({ toolsets: ['nonsense'] }), { code: 'unknown-toolset' });
    stage.temp.write('home/config.yaml', 'toolsets: [hermes-cli]\n');
    const app = await stage.open();
    assert.ok(app.notices.some((notice) => notice.includes('hermes-cli')));
    assert.ok((await app.tools()).tools.some((tool) => tool.name === 'memory'));
  });

  verifies(
    'core:web-fetch:off-by-default',
    'web_fetch is shown only when the configuration or the command line asks',
    async (t) => {
      const stage = createStage(t);
      const names = async (options = {}) =>
        (await (await stage.open({ model: 'reflex', ...options })).tools()).tools
          .filter(({ toolset }) => Object.hasOwn(TOOLSETS, toolset)) // those of extensions aside
          .map((tool) => tool.name);
      assert.deepEqual(await names(), [
        'clarify',
        'memory',
        'patch',
        'process',
        'read_file',
        'search_files',
        'session_search',
        'skill_manage',
        'skill_view',
        'skills_list',
        'terminal',
        'todo',
        'write_file',
      ]);
      assert.ok((await names({ toolsets: ['web'] })).includes('web_fetch'));
      stage.temp.write('home/config.yaml', 'web:\n  enabled: true\n');
      assert.ok((await names()).includes('web_fetch'));
    },
  );

  test('approvals.mode decides before anybody is asked', async (t) => {
    const asked: string[] = [];
    const approver = {
      approve: async ({ preview }: { readonly preview: string }) => {
        asked.push(preview);
        return { decision: 'once' as const };
      },
    };
    const results: string[] = [];
    for (const mode of ['ask', 'off', 'deny']) {
      const stage = createStage(t);
      stage.temp.write('home/config.yaml', `approvals:\n  mode: ${mode}\n`);
      const client = createScriptedModel([call('risky'), 'done'], { context: t });
      const app = await stage.open({ extra: { client, tools: [echo] } });
      const { events } = await play(await openConversation(app, { approver }), 'go');
      const end = events.find((event) => event.type === 'tool-end');
      results.push(end?.type === 'tool-end' && end.result.isError ? 'denied' : 'ran');
    }
    assert.deepEqual(results, ['ran', 'ran', 'denied']);
    assert.deepEqual(asked, ['risky']);
  });

  test('first hour 7: the permission of a run comes before the configuration, but for what that denies', async (t) => {
    const asked: string[] = [];
    const approver = {
      approve: async ({ preview }: { readonly preview: string }) => {
        asked.push(preview);
        return { decision: 'once' as const };
      },
    };
    const cases = [
      ['ask', 'auto', 'ran', 0, 'off'],
      ['off', 'ask', 'ran', 1, 'ask'],
      ['deny', 'auto', 'denied', 0, 'deny'],
      ['off', 'read-only', 'read-only', 0, 'read-only'],
    ] as const;
    for (const [mode, permission, expected, questions, shown] of cases) {
      const stage = createStage(t);
      stage.temp.write('home/config.yaml', `approvals:\n  mode: ${mode}\n`);
      const client = createScriptedModel([call('risky'), 'done'], { context: t });
      const app = await stage.open({ extra: { client, tools: [echo] }, run: { permission } });
      assert.equal(app.approvalMode(), shown, 'what /permissions and /status say');
      const { events } = await play(await openConversation(app, { approver }), 'go');
      const end = events.find((event) => event.type === 'tool-end');
      const said = end?.type === 'tool-end' ? (end.result.observed.refused ?? 'ran') : 'nothing';
      assert.deepEqual([said, asked.splice(0).length], [expected, questions], `${mode}, ${permission}`);
    }
  });

  test("what goes beyond the folder and the network is the owner's own answer, also where all is approved", async (t) => {
    const results: string[] = [];
    for (const approver of [denyingApprover, { approve: async () => ({ decision: 'once' as const }) }]) {
      const client = createScriptedModel([call('far'), 'done'], { context: t });
      const app = await createStage(t).open({ extra: { client, tools: [echo] }, run: { permission: 'auto' } });
      const { events } = await play(await openConversation(app, { approver }), 'go');
      const end = events.find((event) => event.type === 'tool-end');
      results.push(end?.type === 'tool-end' ? end.result.text : 'nothing');
    }
    assert.match(results[0] ?? '', /^Not run: --yes approves no more than the folder and the network/);
    assert.equal(results[1], 'echo: far');
  });

  test('first hour 7: tools that are not allowed in a run are shown as ever, and refused', async (t) => {
    const client = createScriptedModel([call('x'), 'done'], { context: t });
    const stage = createStage(t);
    const app = await stage.open({ extra: { client, tools: [echo] }, run: { allowedTools: ['read_file'] } });
    const conversation = await openConversation(app);
    const { events } = await play(conversation, 'go');
    assert.ok(conversation.prompt.tools.some(({ name }) => name === 'echo'));
    const end = events.find((event) => event.type === 'tool-end');
    assert.equal(end?.type === 'tool-end' && end.result.observed.refused, 'tool-not-allowed');
    await assert.rejects(stage.open({ run: { allowedTools: ['serch_files'] } }), {
      code: 'unknown-tool',
      fix: /Did you mean search_files/,
    });
  });

  verifies('core:approval:remembered', 'what is allowed for good is remembered in the configuration', async (t) => {
    const stage = createStage(t);
    const approver = { approve: async () => ({ decision: 'always' as const }) };
    const client = createScriptedModel([call('risky'), 'done'], { context: t });
    const app = await stage.open({ extra: { client, tools: [echo] } });
    await play(await openConversation(app, { approver }), 'go');
    await app.shutdown();
    const again = await stage.open({
      extra: { client: createScriptedModel([call('risky'), 'done'], { context: t }), tools: [echo] },
    });
    const { events } = await play(await openConversation(again), 'again');
    assert.ok(events.some((event) => event.type === 'approval' && event.decision === 'remembered'));
  });
});

describe('sessions of a composed agent', () => {
  slow(
    'first hour 7: what a run adds to the prompt stays with its session, also when that is built anew',
    async (t) => {
      const stage = createStage(t);
      const first = await stage.open({ model: 'reflex', run: { appendPrompt: 'Speak like a pirate.' } });
      const conversation = await openConversation(first);
      for (let turn = 0; turn < 16; turn += 1) await play(conversation, `${turn} ${'and more words '.repeat(2_000)}`);
      assert.match(conversation.prompt.system, /\n\n## Added for this session\nSpeak like a pirate\.$/);
      await first.shutdown();
      const second = await stage.open({ model: 'reflex' });
      const resumed = await openConversation(second, { resume: conversation.session.id });
      assert.equal(resumed.prompt.system, conversation.prompt.system);
      const events = [];
      for await (const event of resumed.compress(new AbortController().signal)) events.push(event);
      assert.ok(
        events.some(({ type }) => type === 'prefix-break'),
        JSON.stringify(events),
      );
      assert.match(resumed.prompt.system, /Speak like a pirate\.$/);
      assert.doesNotMatch((await openConversation(second)).prompt.system, /pirate/);
    },
  );

  test('first hour 7: a new session takes the id that it is given, once', async (t) => {
    const app = await createStage(t).open({ model: 'reflex' });
    const options = { source: 'cli', cwd: '/', approver: denyingApprover, asker: absentAsker, newId: 'mine' };
    const opened = await app.openConversation(options);
    assert.equal(opened.ok && opened.value.session.id, 'mine');
    const again = await app.openConversation(options);
    assert.equal(again.ok ? 'opened' : again.reason, 'session-exists');
  });

  verifies(
    'core:cli:continue-resume',
    'resume by id, continue the last of this folder, refuse an unknown id',
    async (t) => {
      const stage = createStage(t);
      const first = await stage.open({ extra: { client: createScriptedModel(['one'], { context: t }) } });
      const conversation = await openConversation(first);
      await play(conversation, 'hello');
      const { id } = conversation.session;
      await first.shutdown();
      const second = await stage.open({ extra: { client: createScriptedModel(['two', 'three'], { context: t }) } });
      const resumed = await openConversation(second, { resume: id });
      assert.equal(resumed.history.length, 2);
      await play(resumed, 'again');
      await resumed.close();
      const continued = await openConversation(second, { continueLast: true });
      assert.equal(continued.session.id, id);
      await play(continued, 'and again');
      const unknown = await second.openConversation({
        resume: 'nothing',
        source: 'cli',
        cwd: stage.cwd,
        approver: denyingApprover,
        asker: absentAsker,
      });
      assert.equal(!unknown.ok && unknown.reason, 'no-such-session');
    },
  );

  test('a session that another process holds is refused', async (t) => {
    const stage = createStage(t);
    const app = await stage.open({ extra: { client: createScriptedModel([]) } });
    const conversation = await openConversation(app);
    const opened = await app.openConversation({
      resume: conversation.session.id,
      source: 'cli',
      cwd: stage.cwd,
      approver: denyingApprover,
      asker: absentAsker,
    });
    assert.ok(opened.ok || opened.reason === 'owned-elsewhere');
  });
});

describe('the end of a composed agent', () => {
  verifies(
    'core:bad-input:sigterm',
    'shutdown in mid-turn ends the turn properly and keeps what was acknowledged',
    async (t) => {
      const stage = createStage(t);
      const app = await stage.open({ extra: { client: createScriptedModel([{ hang: true, after: 'thinking' }]) } });
      const conversation = await openConversation(app);
      const events: TurnEvent[] = [];
      let ending: Promise<void> | undefined;
      for await (const event of conversation.send('never mind', { signal: new AbortController().signal })) {
        events.push(event);
        if (event.type === 'text-delta') ending ??= app.shutdown();
      }
      await ending;
      await app.shutdown();
      const end = events.at(-1);
      assert.equal(end?.type === 'turn-end' && end.outcome, 'aborted');
      const again = await stage.open();
      const messages = await again.doors.sessions.messages(conversation.session.id);
      assert.equal(messages[0]?.message.role, 'user');
    },
  );

  test('background work is drained; its failure is logged and reaches nobody else', async (t) => {
    const stage = createStage(t);
    const app = await stage.open({ extra: { client: createScriptedModel([]) } });
    const done: string[] = [];
    app.background(
      'slow',
      systemClock.sleep(30).then(() => void done.push('slow')),
    );
    app.background('broken', Promise.reject(new Error('it broke')));
    await systemClock.sleep(1);
    await app.shutdown();
    assert.deepEqual(done, ['slow']);
    assert.match(readFileSync(join(stage.root, 'logs', 'agent.log'), 'utf8'), /broken: it broke/);
  });
});

describe('composing that fails', () => {
  test('closes what was opened: a room that cannot start ends the others, and the home can be opened again', async (t) => {
    const stage = createStage(t);
    const ended: string[] = [];
    const sound: Room = { name: 'sound', open: () => ({ close: () => void ended.push('sound') }) };
    const broken: Room = {
      name: 'broken',
      open: () => {
        throw new Error('cannot start');
      },
    };
    await assert.rejects(stage.open({ model: 'reflex', extra: { rooms: [sound, broken] } }), /cannot start/);
    assert.deepEqual(ended, ['sound']);
    await play(await openConversation(await stage.open({ model: 'reflex' })), 'hello');
  });
});

describe('an extension in a composed agent', () => {
  verifies(
    ['core:extension:host', 'core:extension:removable'],
    'its tool is shown, its command listed, its turn runs with its tools alone',
    async (t) => {
      const stage = createStage(t);
      const kept: Ground[] = [];
      const room: Room = {
        name: 'sample',
        open: (ground) => {
          kept.push(ground);
          return { tools: [echo] };
        },
      };
      const client = createScriptedModel([call('from the extension'), 'done', call('in a chat'), 'done'], {
        context: t,
      });
      const app = await stage.open({ toolsets: ['default', 'test'], extra: { client, rooms: [room] } });
      assert.ok((await app.tools()).tools.some((tool) => tool.name === 'echo'));
      const mind = await kept[0]?.open();
      assert.ok(mind);
      const request = { text: 'go', purpose: 'answer', tier: 'T2', tools: ['echo'], maxSteps: 5 } as const;
      const events = await Array.fromAsync(mind.runTurn(request, new AbortController().signal));
      assert.equal(events.at(-1)?.type, 'turn-end');
      assert.deepEqual(
        client.requests[0]?.tools.map((tool) => tool.name),
        ['echo'],
      );
      const { events: chat } = await play(await openConversation(app), 'go');
      assert.ok(chat.some((event) => event.type === 'tool-end' && event.result.text.includes('in a chat')));
    },
  );
});

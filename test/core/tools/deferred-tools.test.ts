/** Tools that a prompt only hints at: which they are, how they are found, and that they run as if they were shown. */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';
import { type Approver, absentAsker } from '#core/agent/approver.ts';
import { GUIDANCE, IDENTITY } from '#core/agent/prompts.rules.ts';
import type { Room } from '#core/agent/room.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { deferTools } from '#core/tools/deferred-tools.ts';
import { createToolRegistry } from '#core/tools/tool-registry.ts';
import type { AppOptions, ConversationOptions } from '#surfaces/app/app.ts';
import { createScriptedModel, type ScriptedCall, type ScriptedStep } from '#testing/scripted-model.ts';
import { createStage, play } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

const text = (of: string) => ({ type: 'string', description: `The ${of} that is meant, as the service names it` });
const properties = { owner: text('owner'), repo: text('repository'), body: text('text'), page: { type: 'number' } };

/** As a server's: a description of a sentence, and a schema with words in it. */
const serverTool = (verb: string, word: string) =>
  defineTool({
    ...{ name: `mcp__github__${verb}_${word}`, toolset: 'mcp-github', effect: 'read', defer: 'when-many' },
    description: `Use this to ${verb} a ${word} of a repository on the service.`,
    input: z.looseObject({}),
    parameters: { type: 'object', properties, required: ['owner', 'repo'] },
    run: async (input) => ({ text: `${verb}_${word} ran with ${JSON.stringify(input)}` }),
  });

/** 65 of them. */
const SERVER = 'issue pull branch commit file review label release search user team workflow comment'
  .split(' ')
  .flatMap((word) => 'create get list update delete'.split(' ').map((verb) => serverTool(verb, word)));

const erase = defineTool({
  ...{ name: 'erase', description: 'Erase a record.', toolset: 'records', effect: 'write', defer: 'rare' },
  input: z.object({ id: z.string() }),
  risk: ({ id }) => ({ level: 'ask', reason: 'it erases', key: 'erase', preview: `erase ${id}` }) as const,
  run: async ({ id }) => ({ text: `erased ${id}` }),
});
const seen: string[] = [];

const roomOf = (tools: readonly AnyTool[]): Room => ({
  name: 'records',
  open: () => ({
    tools: [erase],
    sessionTools: async () => tools,
    hooks: [
      {
        name: 'watch',
        beforeTool: async (_, { name }) => ({
          decision: seen.push(`before ${name}`) > 0 ? 'allow' : 'ask',
          reason: '',
        }),
        afterTool: async (_, { name }, result) => void seen.push(`after ${name}, ${result.name}`),
      },
    ],
  }),
});

interface Talk {
  readonly steps?: readonly ScriptedStep[];
  readonly tools?: readonly AnyTool[];
  readonly config?: string;
  readonly run?: AppOptions['run'] & object;
  readonly means?: Partial<ConversationOptions>;
}

async function open(t: TestContext, { steps = [], tools = SERVER, config = '', run = {}, means }: Talk) {
  const stage = createStage(t);
  stage.temp.write('home/config.yaml', `version: 1\n${config}`);
  const client = createScriptedModel(steps, { context: t });
  const app = await stage.open({ run, extra: { client, rooms: [roomOf(tools)] } });
  const approver: Approver = { approve: async () => ({ decision: 'once' }) };
  const opened = await app.openConversation({ source: 'chat', cwd: stage.cwd, approver, asker: absentAsker, ...means });
  assert.ok(opened.ok);
  return { app, conversation: opened.value, tools: opened.value.prompt.tools };
}

async function results(t: TestContext, given: Talk) {
  const { events } = await play((await open(t, given)).conversation, 'go');
  return events.flatMap((event) => (event.type === 'tool-end' ? [event.result] : []));
}

const step = (...calls: ScriptedCall[]): ScriptedStep => ({ calls });
const call = (name: string, given = {}): ScriptedCall => ({ name: 'tool_call', arguments: { name, arguments: given } });
const find = (query: string, more = {}): ScriptedCall => ({ name: 'tool_search', arguments: { query, ...more } });
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
const ALWAYS = 'tools: { defer: always }\n';

describe('deferred tools', () => {
  verifies(
    'R5.20',
    'are those of a server as a whole once they are many, and what is rare where nobody named it',
    () => {
      const few = SERVER.slice(0, 12);
      const split = (tools: readonly AnyTool[], wish: Partial<Parameters<typeof deferTools>[1]>) => {
        const selection = createToolRegistry({}).select([], [erase, ...tools]);
        assert.ok(selection.ok);
        const shown = deferTools(selection.value, { mode: 'auto', window: 200_000, named: [], ...wish });
        const names = namesOf(shown.schemas);
        assert.deepEqual(names, namesOf(shown.tools));
        const servers = names.filter((name) => name.startsWith('mcp__')).length;
        return [names.includes('erase'), servers, names.includes('tool_call') && names.includes('tool_search')];
      };
      assert.deepEqual(split(few, {}), [false, 12, true]);
      assert.deepEqual(split(few, { named: ['records'] }), [true, 12, false]);
      assert.deepEqual(split(few, { window: 8_000 }), [false, 0, true], 'more than 5 % of the window');
      assert.deepEqual(split(SERVER, { window: 1_000_000 }), [false, 0, true], 'more than 4,000 tokens');
      assert.deepEqual(split(few, { mode: 'always' }), [false, 0, true]);
      assert.deepEqual(split(SERVER, { mode: 'never', window: 8_000 }), [true, 65, false]);
    },
  );

  verifies('R5.21', 'are found by words of name and description, eight at most, and hinted at in a line', async (t) => {
    const config = `toolsets: [default, records]\n${ALWAYS}`;
    const description = (await open(t, { config })).tools.find(({ name }) => name === 'tool_search')?.description ?? '';
    assert.match(description, / mcp-github \(65\): create_branch, .*…$/);
    assert.ok(description.length < 260);
    const asked = [
      find('how to create a new issue'),
      find('erasing'),
      find('comment', { limit: 8 }),
      find('x', { limit: 9 }),
    ];
    const [first, none, many, wrong] = await results(t, { config, steps: [step(...asked), 'done'] });
    const found = (told = '') => told.split('\n').map((line) => JSON.parse(line));
    assert.equal(found(first?.text).length, 4);
    assert.deepEqual([found(first?.text)[0].name, first?.origin], ['mcp__github__create_issue', 'foreign']);
    assert.deepEqual(found(first?.text)[0].parameters.properties, properties);
    assert.ok(namesOf(found(many?.text)).every((name) => name.endsWith('_comment')));
    assert.match(
      none?.text ?? '',
      /^No tool fits\. There are .*mcp-github \(65\)/,
      'a tool that is shown is not looked for',
    );
    assert.equal(wrong?.observed.refused, 'invalid-arguments');
  });

  verifies('R5.22', 'run by tool_call or by name, and all that goes with a call sees the inner name', async (t) => {
    seen.length = 0;
    const asked: string[] = [];
    const approve: Approver['approve'] = async ({ tool, preview }) => {
      asked.push(`${tool}: ${preview}`);
      return { decision: 'once' };
    };
    const right = [
      call('erase', { id: '7' }),
      { name: 'erase', arguments: { id: '8' } },
      call('mcp__github__get_issue', { a: 1 }),
    ];
    const wrong = [call('erase'), call('mcp__github__get_isue'), { name: 'tool_call', arguments: {} }];
    const steps = [step(...right, ...wrong), 'done'];
    const { conversation, app } = await open(t, { steps, means: { approver: { approve } } });
    const { events } = await play(conversation, 'go');
    const ends = events.flatMap((event) => (event.type === 'tool-end' ? [event] : []));
    const names = ['erase', 'erase', 'mcp__github__get_issue', 'erase', 'mcp__github__get_isue', 'tool_call'];
    const spans = (await app.doors.sessions.spans(conversation.session.id)).filter(({ kind }) => kind === 'tool');
    const starts = events.flatMap((event) => (event.type === 'tool-start' ? [event] : []));
    for (const list of [ends, starts, spans, ends.map(({ result }) => result)]) assert.deepEqual(namesOf(list), names);
    assert.deepEqual(starts[0]?.arguments, { id: '7' });
    const [one, two, three, bad, unknown, broken] = ends.map(({ result }) => result);
    assert.deepEqual([one?.text, two?.text, three?.text], ['erased 7', 'erased 8', 'get_issue ran with {"a":1}']);
    assert.deepEqual(asked, ['erase: erase 7', 'erase: erase 8']);
    assert.match(bad?.text ?? '', /^Invalid arguments for erase: id/);
    assert.match(
      unknown?.text ?? '',
      /named "mcp__github__get_isue"\. Nearest: mcp__github__get_issue, \w+, \w+\. Tools: /,
    );
    assert.match(broken?.text ?? '', /^Invalid arguments for tool_call: name/);
    assert.deepEqual(seen.slice(0, 3), ['before erase', 'after erase, erase', 'before erase']);
  });

  verifies('R5.23', 'are no way round what a turn may run: names, toolsets, seats, read-only', async (t) => {
    const steps = [step(call('erase', { id: '7' }), { name: 'erase', arguments: { id: '8' } }, find('erase')), 'done'];
    const refusals = async (more: Talk) =>
      (await results(t, { steps, ...more })).map(({ observed, text: told }) => observed.refused ?? told);
    const twice = (reason: string) => [reason, reason];
    assert.deepEqual((await refusals({ run: { allowedTools: ['todo'] } })).slice(0, 2), twice('tool-not-allowed'));
    assert.deepEqual((await refusals({ run: { permission: 'read-only' } })).slice(0, 2), twice('read-only'));
    const unknown = twice('unknown-tool');
    assert.deepEqual(await refusals({ means: { seat: 'guest' } }), [...unknown, 'unknown-tool']);
    const few = await refusals({ means: { toolsets: ['todo', 'mcp-github'] }, config: ALWAYS });
    assert.deepEqual(few.slice(0, 2), unknown);
    assert.match(few[2] ?? '', /^No tool fits\. There are mcp-github \(65\)/);
    assert.deepEqual(namesOf((await open(t, { means: { toolsets: ['todo'] } })).tools), ['todo']);
  });

  verifies(
    'R5.24',
    'keep the prompt within 1,500 tokens with everything on, 1,800 with 65 tools of a server',
    async (t) => {
      const web = 'web: { enabled: true, search: { backend: searxng, base_url: "http://127.0.0.1:8888" } }\n';
      for (const [most, server] of [
        [1_500, []],
        [1_800, SERVER],
      ] as const) {
        const { app, tools } = await open(t, { tools: server, config: `toolsets: [all]\n${web}` });
        const schemas = JSON.stringify(tools.map((tool) => ({ type: 'function', function: tool })));
        const tokens = countTokens(`${IDENTITY}\n\n${GUIDANCE}`) + countTokens(schemas);
        assert.ok(tokens <= most, `${tokens} tokens`);
        const { deferred } = await app.tools();
        const hidden = new Set(namesOf(deferred));
        assert.ok(['erase', 'web_search', ...namesOf(server)].every((name) => hidden.has(name)));
        assert.deepEqual(
          namesOf(tools).filter((name) => hidden.has(name)),
          [],
        );
      }
    },
  );
});

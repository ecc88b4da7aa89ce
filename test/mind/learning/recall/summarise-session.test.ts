// Recall summaries: cited sentence by sentence, bounded, optional, and never in the way of the words themselves.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { estimateTokens } from '#base/text.ts';
import { absentAsker } from '#core/agent/approver.ts';
import type { ToolContext } from '#core/agent/tool.ts';
import { userMessage } from '#core/model/message.ts';
import type { ModelRequest } from '#core/model/model-client.ts';
import { functionSchema } from '#core/tools/registry/tool-schema.ts';
import { createSummariser, RECALL_PROMPT } from '#mind/learning/recall/summarise-session.ts';
import { sessionMessages } from '#mind/sessions/find-message.ts';
import { createSessionSearchTool } from '#mind/sessions/tool/session-search-tool.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { verifies } from '../../../verifies.ts';
import { withStore } from '../../sessions/temp-store.ts';
import { reply } from '../conversation-builder.ts';

const clock = createManualClock({ auto: true });
const never = new AbortController().signal;

function contextOf(sessionId: string): ToolContext {
  const place = { cwd: '/', clock, asker: absentAsker, spillFolder: '/tmp' };
  return { ...place, sessionId, callId: 'c1', history: () => [], redact: (text) => text, progress: () => undefined };
}

async function search(steps: readonly ScriptedStep[], args: object) {
  let seen:
    | {
        readonly result: Record<string, unknown>;
        readonly ids: readonly number[];
        readonly purposes: readonly string[];
      }
    | undefined;
  const model = createScriptedModel(steps);
  await withStore(async (store) => {
    const session = await store.create({ source: 'cli', cwd: '/' });
    const ids: number[] = [];
    for (const message of [
      userMessage('which port should the staging server use?'),
      reply('The staging server uses port 4010, Bob decided.'),
      userMessage('fine, then close port 4020 on the staging server'),
    ])
      ids.push((await store.append(session.id, message)).id);
    const live = await store.create({ source: 'cli', cwd: '/' });
    const summarise = createSummariser({
      store,
      messagesOf: (id) => sessionMessages(store.database, id),
      model: () => model,
      clock,
    });
    const tool = createSessionSearchTool(store, { summarise });
    const output = await tool.run(args as never, contextOf(live.id), never);
    const body = JSON.parse(output.text) as { results: Record<string, unknown>[] };
    const purposes = (await store.costs()).map(({ purpose }) => purpose);
    seen = { result: body.results[0] ?? {}, ids, purposes };
  }, clock);
  model.done();
  assert.ok(seen);
  return seen;
}

const textOf = ({ messages }: ModelRequest) =>
  messages[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? '';
const idsOf = (text: string) => [...text.matchAll(/^#(\d+) /gm)].map(([, id]) => Number(id));

describe('recall summaries', () => {
  verifies(
    ['core:recall:summaries-optional', 'core:recall:summary-length'],
    'each sentence cites messages or is dropped; topic and day stand beside it; its cost is kept as recall',
    async () => {
      const { result, ids, purposes } = await search(
        [
          (request) => {
            const [asked, answered, closed] = idsOf(textOf(request));
            return [
              `Bob decided that the staging server uses port 4010 [#${asked}, #${answered}].`,
              `Port 4020 is to be closed [#${closed}].`,
              `Alice wanted port 9999 [#${answered}].`,
              `The server is fast [#99999].`,
              'Everybody was happy.',
            ].join(' ');
          },
        ],
        { query: 'staging server port', summarise: true },
      );
      const summary = result.summary as { topic: string; text: string; dropped: number };
      assert.equal(
        summary.text,
        `Bob decided that the staging server uses port 4010 [#${ids[0]}, #${ids[1]}]. Port 4020 is to be closed [#${ids[2]}].`,
      );
      assert.equal(summary.dropped, 3);
      assert.match(summary.topic, /^staging server port, \d{4}-\d\d-\d\d$/);
      assert.equal(result.messages, undefined, 'the summary stands in place of the surroundings');
      assert.ok(result.match_message_id, 'and the hit still says where to read on');
      assert.deepEqual(purposes, ['recall']);
    },
  );

  test('verbatim by default, when the model fails, and when nothing could be cited', async () => {
    for (const [steps, args] of [
      [[], { query: 'staging server port' }],
      [[{ error: 'model-unreachable' }], { query: 'staging server port', summarise: true }],
      [['Nothing.'], { query: 'staging server port', summarise: true }],
    ] as const) {
      const { result } = await search(steps, args);
      assert.equal(result.summary, undefined);
      assert.match(JSON.stringify(result.messages), /port 4010/);
    }
  });

  test('the option costs few tokens, and none where there is no summariser', async () => {
    await withStore(async (store) => {
      const plain = JSON.stringify(functionSchema(createSessionSearchTool(store)));
      const summarise = async () => undefined;
      const more = JSON.stringify(functionSchema(createSessionSearchTool(store, { summarise })));
      assert.ok(!plain.includes('summarise'));
      assert.ok(estimateTokens(more) - estimateTokens(plain) <= 15, `${estimateTokens(more) - estimateTokens(plain)}`);
    });
  });

  test('a summary is bounded, whatever the model writes, and nothing that it writes throws', async () => {
    const bad = ['[#7]', '[[[#7', 'a [#7] [#7]', '\u0000', '#7 '.repeat(500), 'Port 4010 [#0], no [#999].'];
    const long = (request: ModelRequest): ScriptedStep =>
      'The port was asked for. '.replace('.', ` [#${idsOf(textOf(request))[0]}].`).repeat(50);
    for (const step of [...bad, long]) {
      const { result } = await search([step], { query: 'staging server port', summarise: true });
      const summary = result.summary as { text: string; dropped: number } | undefined;
      assert.equal(summary?.text.split('].').length ?? 0, step === long ? 7 : 0);
      assert.equal(summary?.dropped ?? 0, step === long ? 44 : 0);
    }
  });

  test('the prompt stays as it is', () => {
    assert.match(RECALL_PROMPT, /^Summarise what this stored conversation says about the question, and nothing else\./);
  });
});

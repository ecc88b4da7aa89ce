// Sixty tries to plant something (test/data/judgement/poison.json): the model does whatever the text that it read says, and the judge says
// yes to everything. Nothing foreign is kept without a yes that showed it.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import { type ApprovalRequest, absentAsker } from '#core/agent/approver.ts';
import { defineTool } from '#core/agent/tool.ts';
import { type ModelClient, type ModelEvent, type ModelRequest, NO_USAGE } from '#core/model/model-client.ts';
import type { App } from '#surfaces/app/app.ts';
import { composeApp } from '#surfaces/app/compose.ts';
import { createTempHome } from '#testing/temp-home.ts';

interface Try {
  readonly id: string;
  readonly foreign: string;
  readonly ownerLines: readonly string[];
  readonly modelSays?: string;
  readonly attempt: {
    readonly tool: 'memory' | 'skill_manage';
    readonly arguments: JsonObject & { readonly content?: string; readonly new_string?: string };
    readonly evidence: readonly { readonly quote: string; readonly of: string }[];
  };
  readonly via: 'foreground' | 'review';
}

interface Told {
  readonly sessions: readonly {
    readonly messages: readonly unknown[];
    readonly proposals: readonly { readonly name?: string; readonly content?: string }[];
  }[];
}

const DATA = join(import.meta.dirname, '../data/judgement');
const TRIES = JSON.parse(readFileSync(join(DATA, 'poison.json'), 'utf8')) as readonly Try[];
const STORY = JSON.parse(readFileSync(join(DATA, 'story.json'), 'utf8')) as Told;
const DIGEST =
  STORY.sessions.flatMap(({ proposals }) => proposals).find(({ name }) => name === 'weekly-digest')?.content ?? '';

/** What the double does next, and what the page that it reads says. */
interface Stage {
  current?: Try;
  steps: ModelEvent[][];
}

function obedient(stage: Stage): ModelClient {
  return {
    id: 'obedient/model',
    tier: 'T2',
    traits: { contextWindow: 128_000, toolCalling: 'structured', cacheMarks: false, local: true },
    async *stream(request: ModelRequest) {
      const events =
        request.purpose === 'judge'
          ? [yesToAll(request)]
          : (stage.steps.shift() ?? [{ type: 'text-delta', text: 'Done.' } as const]);
      yield* events;
      const reason = events.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
      yield { type: 'finish', reason, usage: NO_USAGE, model: 'obedient/model', tier: 'T2', cost: 0 };
    },
  };
}

function yesToAll({ messages }: ModelRequest): ModelEvent {
  const asked = JSON.stringify(messages.at(-1)).match(/claim c\d+/g) ?? [];
  return { type: 'text-delta', text: asked.map((claim) => `${claim.slice(6)} supported: yes`).join('\n') };
}

const say = (text: string): ModelEvent[] => [{ type: 'text-delta', text }];
const call = (name: string, given: JsonObject, callId: string): ModelEvent[] => [
  { type: 'tool-call', callId, name, arguments: given },
];

async function openApp(context: TestContext, stage: Stage): Promise<App> {
  const home = createTempHome(context).path;
  mkdirSync(home, { recursive: true });
  const read = defineTool({
    name: 'read_page',
    description: 'Reads.',
    input: z.looseObject({}),
    toolset: 'page',
    effect: 'read',
    run: async () => ({ text: stage.current?.foreign ?? '' }),
  });
  const variables = { HOME: home, TALARIA_HOME: join(home, 'talaria'), PATH: process.env.PATH };
  const app = await composeApp({
    environment: { cwd: home, userHome: home, variables },
    extra: { client: obedient(stage), tools: [read] },
  });
  context.after(() => app.shutdown());
  const made = await app.skills.door.write({
    name: 'weekly-digest',
    change: { action: 'create', content: DIGEST },
    actor: 'owner',
    approved: true,
  });
  assert.ok(made.ok, JSON.stringify(made));
  await app.skills.library.refresh();
  return app;
}

/** Reads in the first turn; proposes in the last one, or leaves that to the review. */
async function play(app: App, stage: Stage, one: Try): Promise<readonly ApprovalRequest[]> {
  const asked: ApprovalRequest[] = [];
  const approver = {
    approve: async (request: ApprovalRequest) => {
      asked.push(request);
      return { decision: 'deny' } as const;
    },
  };
  const opened = await app.openConversation({ source: 'cli', cwd: app.environment.cwd, approver, asker: absentAsker });
  assert.ok(opened.ok);
  stage.current = one;
  const evidence = one.attempt.evidence.map(({ quote }) => ({ quote }));
  const attempt = call(one.attempt.tool, { ...one.attempt.arguments, evidence }, `plant-${one.id}`);
  const last = one.ownerLines.length - 1;
  for (const [at, line] of one.ownerLines.entries()) {
    stage.steps = [
      ...(at === 0 ? [call('read_page', {}, `read-${one.id}`)] : []),
      ...(at === last && one.via === 'foreground' ? [attempt] : []),
      say(at === 0 ? (one.modelSays ?? 'I read it.') : 'Done.'),
    ];
    await Array.fromAsync(opened.value.send(line, { signal: new AbortController().signal }));
  }
  if (one.via === 'review') {
    stage.steps = [attempt, say('Done.')];
    const learned = await (await app.learning()).learnNow(opened.value.session.id, '', new AbortController().signal);
    assert.ok(learned.ok, JSON.stringify(learned));
  }
  await opened.value.close();
  return asked;
}

function kept(app: App): readonly string[] {
  return app.proposals
    .list({ status: 'applied' })
    .filter(({ actor }) => actor !== 'owner')
    .map(({ change }) => JSON.stringify(change));
}

describe('poisoning', () => {
  for (const via of ['foreground', 'review'] as const) {
    test(`${via}: of thirty tries none is kept, and the owner is shown what he decides on`, async (context) => {
      const stage: Stage = { steps: [] };
      const app = await openApp(context, stage);
      for (const one of TRIES.filter((each) => each.via === via)) {
        const asked = await play(app, stage, one);
        assert.deepEqual(kept(app), [], one.id);
        if (via === 'review') continue;
        const text = String(one.attempt.arguments.content ?? one.attempt.arguments.new_string);
        const preview = asked.find(({ tool }) => tool === one.attempt.tool)?.preview ?? '';
        assert.ok(preview.includes(text.split('\n').at(-1) ?? text), `${one.id}: ${preview}`);
        assert.match(preview, /Read before it was written, nearest to it \(read_page\)/, one.id);
      }
    });
  }
});

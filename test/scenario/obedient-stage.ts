/** An agent whose model does whatever the text that it read says, and whose judge says yes to everything. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { z } from 'zod';
import { type ApprovalDecision, type ApprovalRequest, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import { type ModelClient, type ModelEvent, type ModelRequest, NO_USAGE } from '#core/model/model-client.ts';
import { defineTool, type JsonObject } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { composeApp } from '#surfaces/app/house.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { createPlainWalls } from '../doubles/plain-walls.ts';

interface Told {
  readonly sessions: readonly {
    readonly messages: readonly unknown[];
    readonly proposals: readonly { readonly name?: string; readonly content?: string }[];
  }[];
}

export const DATA = join(import.meta.dirname, '../data/judgement');
const STORY = JSON.parse(readFileSync(join(DATA, 'story.json'), 'utf8')) as Told;
const DIGEST =
  STORY.sessions.flatMap(({ proposals }) => proposals).find(({ name }) => name === 'weekly-digest')?.content ?? '';

/** What the double does next, and what the page that it reads says. */
export interface Stage {
  page: string;
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

export const say = (text: string): ModelEvent[] => [{ type: 'text-delta', text }];
export const call = (name: string, given: JsonObject, callId: string): ModelEvent[] => [
  { type: 'tool-call', callId, name, arguments: given },
];

/** With `read_page`, and the skill `weekly-digest` that the owner made. */
export async function openApp(context: TestContext, stage: Stage): Promise<App> {
  const home = createTempHome(context).path;
  mkdirSync(home, { recursive: true });
  const read = defineTool({
    name: 'read_page',
    description: 'Reads.',
    input: z.looseObject({}),
    toolset: 'page',
    effect: 'read',
    run: async () => ({ text: stage.page }),
  });
  const variables = { HOME: home, TALARIA_HOME: join(home, 'talaria'), PATH: process.env.PATH };
  const app = await composeApp({
    environment: { cwd: home, userHome: home, variables },
    extra: { client: obedient(stage), tools: [read], walls: createPlainWalls() },
  });
  context.after(() => app.shutdown());
  const made = await app.doors.door.write({
    name: 'weekly-digest',
    change: { action: 'create', content: DIGEST },
    actor: 'owner',
    approved: true,
  });
  if (!made.ok) throw new Error(JSON.stringify(made));
  await app.doors.skills.refresh();
  return app;
}

export interface Turn {
  readonly line: string;
  /** Steps of the model before its last words. */
  readonly calls: readonly ModelEvent[][];
  readonly says?: string;
}

export interface Talked {
  readonly asked: readonly ApprovalRequest[];
  readonly sessionId: string;
}

/** Plays the turns in a new session and ends it. `nobody`: there is no person. `before` is run at the end, with the session open. */
export async function talk(
  app: App,
  stage: Stage,
  {
    turns,
    answer,
    before,
  }: {
    readonly turns: readonly Turn[];
    readonly answer: ApprovalDecision | 'nobody';
    readonly before?: (sessionId: string) => Promise<void>;
  },
): Promise<Talked> {
  const asked: ApprovalRequest[] = [];
  const approve = async (request: ApprovalRequest) => {
    asked.push(request);
    return { decision: answer === 'nobody' ? 'deny' : answer } as const;
  };
  const approver = answer === 'nobody' ? denyingApprover : { approve };
  const opened = await app.openConversation({ source: 'cli', cwd: app.environment.cwd, approver, asker: absentAsker });
  if (!opened.ok) throw new Error(opened.detail);
  const sessionId = opened.value.session.id;
  for (const { line, calls, says = 'Done.' } of turns) {
    stage.steps = [...calls, say(says)];
    await Array.fromAsync(opened.value.send(line, { signal: new AbortController().signal }));
  }
  await before?.(sessionId);
  await opened.value.close();
  return { asked, sessionId };
}

/** What anybody but the owner has kept, as JSON. */
export function kept(app: App): readonly string[] {
  return app.doors.proposals
    .list({ status: 'applied' })
    .filter(({ actor }) => actor !== 'owner')
    .map(({ change }) => JSON.stringify(change));
}

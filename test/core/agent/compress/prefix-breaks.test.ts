/**
 * Fifty turns with memory writes, skill writes, reviews beside the conversation and a change of model: what is sent only grows, but for
 * one break a compression, and one, counted by its name, when the way of calling tools changes.
 */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { z } from 'zod';
import { absentAsker } from '#core/agent/approver.ts';
import { isSummary } from '#core/agent/compress/summary.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import { createForkTurn } from '#core/agent/conversation.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { withTextTools } from '#core/model/text-tools.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { ModelRequest } from '#public/talaria.ts';
import type { ScriptedModel } from '#public/testing.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { answering, breaks, conversationParts, type Desk, open, say, signal, words } from './compress-fixture.ts';

const TURNS = 50;
const REVIEW_EVERY = 5;

/** Writes what the next prompt will show: a memory entry, a skill. */
function writingTool(name: string, desk: Desk): AnyTool {
  return defineTool({
    name,
    description: 'Keep something.',
    input: z.object({ text: z.string() }),
    toolset: 'test',
    effect: 'write',
    run: async ({ text }) => {
      desk.memory += `\n${text}`;
      return { text: `kept: ${text}` };
    },
  });
}

function asText({ system, tools, messages }: ModelRequest): string {
  return JSON.stringify([system, tools, ...messages]).slice(0, -1);
}

/** Requests that do not begin with all of the answer request before them. */
function brokenAt(requests: readonly ModelRequest[]): readonly number[] {
  const broken: number[] = [];
  let last: string | undefined;
  for (const [at, request] of requests.entries()) {
    const text = asText(request);
    if (last !== undefined && !text.startsWith(last)) broken.push(at);
    if (request.purpose === 'answer') last = text;
  }
  return broken;
}

/** A turn writes memory or a skill, then answers. */
function scripted(sent: ModelRequest[]): ScriptedModel {
  let step = 0;
  return answering({
    contextWindow: 16_384,
    answer: (request) => {
      sent.push(request);
      step += 1;
      if (request.purpose === 'review') return 'Nothing to keep.';
      const tool = step % 4 === 1 ? 'memory' : 'skill_manage';
      const call = { name: tool, arguments: { text: `entry ${step}` }, callId: `c${step}` };
      return request.messages.at(-1)?.role === 'user' ? { calls: [call] } : `Answer ${step}. ${words(120)}`;
    },
  });
}

function newWorld(t: TestContext) {
  const desk: Desk = { memory: '', builds: 0 };
  const tools = [writingTool('memory', desk), writingTool('skill_manage', desk)];
  const store = createSqliteSessionStore({ path: join(createTempHome(t).path, 'state.db') });
  t.after(() => store.close());
  const { machine } = conversationParts({ store, model: answering(), tools });
  const place = { ...machine.place, asker: absentAsker, spillFolder: tmpdir() };
  const review = async (conversation: Conversation) => {
    const fork = createForkTurn({ store, model: () => conversation.model, machine: { ...machine, place } });
    const text = 'Review what was said.';
    const request = {
      sessionId: conversation.session.id,
      text,
      purpose: 'review',
      runnable: new Map(),
      maxSteps: 2,
    } as const;
    for await (const _ of fork(request, signal));
  };
  return { desk, tools, store, review };
}

interface Talked {
  readonly sent: readonly ModelRequest[];
  readonly reasons: readonly string[];
  readonly builds: number;
  readonly conversation: Conversation;
}

async function converse(t: TestContext, { reopenEvery }: { readonly reopenEvery: number }): Promise<Talked> {
  const world = newWorld(t);
  const { desk, tools, store } = world;
  const sent: ModelRequest[] = [];
  const reasons: string[] = [];
  const parts = () => conversationParts({ store, model: scripted(sent), desk, tools });
  let conversation = await open(parts());
  for (let turn = 1; turn <= TURNS; turn += 1) {
    reasons.push(...breaks(await say(conversation, `turn ${turn}: ${words(150)}`)));
    if (turn % REVIEW_EVERY === 0) await world.review(conversation);
    if (turn === 20) conversation.switchModel(scripted(sent));
    if (turn % reopenEvery !== 0) continue;
    await conversation.close();
    conversation = await open(parts(), conversation.session.id);
  }
  return { sent, reasons, builds: desk.builds, conversation };
}

async function assertGrows({ sent, reasons, builds, conversation }: Talked): Promise<void> {
  assert.ok(reasons.length >= 2, `${reasons.length} compressions`);
  assert.deepEqual([...new Set(reasons)], ['compression']);
  assert.equal(brokenAt(sent).length, reasons.length);
  assert.equal(builds, 1 + reasons.length);
  assert.equal(sent.filter((request) => request.purpose === 'review').length, TURNS / REVIEW_EVERY);
  assert.equal(conversation.history.filter(isSummary).length, 1);
  await conversation.close();
}

describe('the prefix of a session', () => {
  verifies.slow(
    ['core:cache:prefix-append-only', 'core:compression:prompt-renewed'],
    'over fifty turns it breaks once a compression and never else, in one process and in many',
    async (t) => {
      await assertGrows(await converse(t, { reopenEvery: TURNS }));
      await assertGrows(await converse(t, { reopenEvery: 7 }));
    },
  );

  verifies(
    ['core:strategy:switch-mid-session', 'core:cache:prefix-append-only'],
    'another way of calling tools breaks it once, by its own name; the turns after grow again',
    async (t) => {
      const { desk, tools, store } = newWorld(t);
      const structured: ModelRequest[] = [];
      const conversation = await open(conversationParts({ store, model: scripted(structured), desk, tools }));
      const reasons: string[] = [];
      for (let turn = 0; turn < 5; turn += 1) reasons.push(...breaks(await say(conversation, `turn ${turn}`)));
      assert.equal(reasons.length, 0);
      const plain: ModelRequest[] = [];
      const answer = (request: ModelRequest) => `Plain answer ${plain.push(request)}.`;
      const inner = answering({ answer });
      conversation.switchModel(withTextTools(inner));
      for (let turn = 5; turn < 10; turn += 1) reasons.push(...breaks(await say(conversation, `turn ${turn}`)));
      assert.deepEqual(reasons, ['strategy-switch']);
      assert.deepEqual(brokenAt(structured), []);
      assert.deepEqual(brokenAt(plain), []);
      assert.equal(brokenAt([...structured.slice(-1), ...plain.slice(0, 1)]).length, 1);
      await conversation.close();
    },
  );
});

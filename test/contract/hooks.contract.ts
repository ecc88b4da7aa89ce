/** What every implementer of the hook vocabulary keeps to; run it on each with a fresh instance a test. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Message, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import type { Hooks, SessionInfo, TurnInfo } from '#public/talaria.ts';
import { verifies } from '../verifies.ts';

export interface HooksUnderTest {
  /** For the title. */
  readonly name: string;
  readonly make: () => Hooks | Promise<Hooks>;
}

const session: SessionInfo = { sessionId: '20260115_120000_abcdef', source: 'test', cwd: '/' };
const turn: TurnInfo = { ...session, turn: 1 };
const call: ToolCallPart = {
  type: 'tool-call',
  callId: 'c1',
  name: 'echo',
  arguments: { text: 'hi' },
  origin: 'model',
};
const result: ToolResultPart = {
  type: 'tool-result',
  callId: 'c1',
  name: 'echo',
  text: 'hi',
  isError: false,
  origin: 'foreign',
  observed: { ms: 1, bytes: 2 },
};
const messages: readonly Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'hello', origin: 'owner' }] }];
const POINTS = ['sessionStart', 'beforeTurn', 'beforeTool', 'afterTool', 'afterTurn', 'beforeCompress', 'sessionEnd'];

export function hooksContract({ name, make }: HooksUnderTest): void {
  describe(`Hooks: ${name}`, () => {
    verifies('core:hooks:vocabulary', 'has a name, and no hook outside the vocabulary', async () => {
      const hooks = await make();
      assert.ok(hooks.name.length > 0);
      const points = Object.entries(hooks).filter(([, value]) => typeof value === 'function');
      for (const [point] of points) assert.ok(POINTS.includes(point), point);
    });

    verifies('core:hooks:before-turn-into-user-message', 'beforeTurn gives text parts with an origin', async () => {
      const hooks = await make();
      const parts = (await hooks.beforeTurn?.({ ...turn, text: 'hello' }, new AbortController().signal)) ?? [];
      for (const part of parts) {
        assert.equal(part.type, 'text');
        assert.ok(['owner', 'observed', 'foreign', 'model'].includes(part.origin));
      }
    });

    verifies(
      'core:hooks:before-tool-may-refuse',
      'beforeTool gives a verdict, with a reason when it is not allow',
      async () => {
        const hooks = await make();
        const verdict = (await hooks.beforeTool?.(turn, call, new AbortController().signal)) ?? { decision: 'allow' };
        assert.ok(['allow', 'ask', 'refuse'].includes(verdict.decision));
        if (verdict.decision !== 'allow') assert.ok(verdict.reason.length > 0);
      },
    );

    verifies('core:hooks:vocabulary', 'a whole session passes, and what it was given is not changed', async () => {
      const hooks = await make();
      const given = structuredClone({ call, result, messages });
      const { signal } = new AbortController();
      await hooks.sessionStart?.(session, signal);
      await hooks.beforeTurn?.({ ...turn, text: 'hello' }, signal);
      await hooks.beforeTool?.(turn, call, signal);
      await hooks.afterTool?.(turn, call, result);
      await hooks.afterTurn?.(turn, { outcome: 'done', messages });
      await hooks.beforeCompress?.(session, messages, signal);
      await hooks.sessionEnd?.(session);
      assert.deepEqual({ call, result, messages }, given);
    });
  });
}

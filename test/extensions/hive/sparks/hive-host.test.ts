// The engine through the composed agent: the real host, its cascade and its ledger, with a scripted model or none at all.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { Extension } from '#core/agent/extension-host.ts';
import { messageText } from '#core/model/message.ts';
import type { ModelRequest } from '#core/model/model-client.ts';
import { sparkTasks } from '#extensions/hive/sparks/by-rule.ts';
import { hostInfer } from '#extensions/hive/sparks/infer.ts';
import { createSparkEngine } from '#extensions/hive/sparks/spark-engine.ts';
import type { App, AppOptions } from '#surfaces/app/app.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createStage } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';
import { createMemoryTransport, idOf } from './hive-memory-transport.ts';

const never = new AbortController().signal;

const peers: Extension = {
  name: 'peers-under-test',
  activate: (host) => {
    for (const task of sparkTasks()) host.addReflexTask(task);
  },
};

function engineOf(app: App) {
  const warnings: string[] = [];
  const runTurn = app.runExtensionTurn.bind(app);
  const infer = hostInfer(async () => ({ runTurn }));
  return {
    warnings,
    engine: createSparkEngine({ infer, clock: systemClock, warn: (problem) => warnings.push(problem) }),
  };
}

const bob = { name: 'hermes-of-bob', context: 'Bob builds enclaves. Needs: a TEE security audit.' };
const dave = { name: 'hermes-of-dave', says: ['Hi! Offers: TEE security audits, penetration tests'] };

describe('the spark engine in the composed agent', () => {
  verifies(
    ['R4.2', 'R4.15', 'R4.24'],
    'it asks the model of the host, without tools, prompt or session of the owner',
    async (t) => {
      const stage = createStage(t);
      const asked: ModelRequest[] = [];
      const say = (value: object) => (request: ModelRequest) => {
        asked.push(request);
        return `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``;
      };
      const summary = { needs: ['audits'], offers: [], expertise: [], summary_text: 'x' };
      const client = createScriptedModel(
        [
          say(summary),
          say({ ...summary, summary_text: 'y' }),
          say({ introduce: [{ pair: 1, reason: 'fits', confidence: 'high' }] }),
        ],
        { context: t },
      );
      const options: Partial<AppOptions> = { extra: { client, extensions: [peers] } };
      const app = await stage.open(options);
      const transport = createMemoryTransport([bob, dave]);
      const { engine, warnings } = engineOf(app);
      await engine.run(transport, never);
      assert.deepEqual(warnings, []);
      assert.deepEqual(
        transport.stored.map(({ by, reason, status }) => [by, reason, status]),
        [['model', 'fits', 'pending']],
      );
      assert.deepEqual(
        asked.map(({ purpose, maxOutputTokens, tools }) => [purpose, maxOutputTokens, tools.length]),
        [
          ['peers', 300, 0],
          ['peers', 300, 0],
          ['peers', 600, 0],
        ],
      );
      for (const { system, messages } of asked) {
        assert.doesNotMatch(JSON.stringify(system), /TEE|Talaria/);
        assert.match(messageText(messages.at(-1) ?? assert.fail()), /^\{.*"schema_version":"peer-(summary|pairs)\/1"/);
      }
    },
  );

  test('with no model the rules answer: the two are suggested to each other, by rule', async (t) => {
    const stage = createStage(t);
    const app = await stage.open({ extra: { extensions: [peers] } });
    const transport = createMemoryTransport([bob, dave]);
    const { engine, warnings } = engineOf(app);
    await engine.run(transport, never);
    assert.deepEqual(warnings, []);
    assert.deepEqual(transport.kept.get(idOf('hermes-of-bob'))?.needs, ['a TEE security audit']);
    assert.deepEqual(transport.kept.get(idOf('hermes-of-dave'))?.offers, ['TEE security audits', 'penetration tests']);
    assert.deepEqual(
      transport.stored.map(({ by, confidence, reason }) => [by, confidence, reason]),
      [['rule', 'medium', 'hermes-of-bob needs "a TEE security audit"; hermes-of-dave offers "TEE security audits".']],
    );
  });

  verifies('R4.25', 'a model that is down costs the turn nothing', async (t) => {
    const stage = createStage(t);
    const client = createScriptedModel([{ refusal: 'no' }, { refusal: 'no' }], { context: t });
    const app = await stage.open({ extra: { client, extensions: [peers] } });
    const transport = createMemoryTransport([bob, dave]);
    const { engine, warnings } = engineOf(app);
    await engine.run(transport, never);
    assert.equal(transport.kept.size, 0);
    assert.equal(warnings.length, 2);
  });
});

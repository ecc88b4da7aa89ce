/** Runs the ModelClient contract over the HTTP clients, the decorators and the scripted model. */
import { systemClock } from '#base/clock.ts';
import { createCascade, withRetry } from '#core/model/cascade.ts';
import { createAnthropicClient } from '#core/model/providers/anthropic-client.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { ModelClient } from '#public/talaria.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { type ContractSubject, modelClientContract } from '../../contract/model-client.contract.ts';

const ECHOES = [
  { name: 'echo', arguments: { text: 'one' } },
  { name: 'echo', arguments: { text: 'two' } },
] as const;

function scripted(steps: readonly ScriptedStep[], wrap: (client: ModelClient) => ModelClient = (client) => client) {
  return async (): Promise<ContractSubject> => ({ client: wrap(createScriptedModel(steps)) });
}

function served(kind: 'openai' | 'anthropic', step: ServerStep) {
  return async (): Promise<ContractSubject> => {
    const server = await startScriptedServer([step, step]);
    const make = kind === 'openai' ? createOpenAiClient : createAnthropicClient;
    const endpoint = { provider: kind, kind, baseUrl: server.baseUrl, apiKey: 'test-key-0000' };
    return { client: make({ endpoint, model: 'scripted-model', tier: 'T2' }), close: () => server.close() };
  };
}

modelClientContract({
  name: 'scripted',
  replying: scripted(['Hello there.', 'Hello again.']),
  calling: scripted([{ calls: ECHOES }]),
  hanging: scripted([{ hang: true, after: 'Hel' }]),
});

for (const kind of ['openai', 'anthropic'] as const) {
  modelClientContract({
    name: kind,
    replying: served(kind, 'Hello there.'),
    calling: served(kind, { calls: ECHOES }),
    hanging: served(kind, { fault: 'hang-after' }),
  });
}

const cascade = (client: ModelClient) =>
  createCascade({
    tier: 'T2',
    clients: [createScriptedModel([{ error: 'model-unreachable' }], { id: 'scripted/broken' }), client],
    clock: systemClock,
  });

modelClientContract({
  name: 'cascade',
  replying: scripted(['Hello there.', 'Hello again.'], cascade),
  calling: scripted([{ calls: ECHOES }], cascade),
  hanging: scripted([{ hang: true, after: 'Hel' }], cascade),
});

const retry = (client: ModelClient) => withRetry(client, { clock: systemClock, baseMs: 1 });

modelClientContract({
  name: 'retry',
  replying: scripted([{ error: 'model-overloaded' }, 'Hello there.', 'Hello again.'], retry),
  calling: scripted([{ error: 'model-overloaded', after: 'Hel' }, { calls: ECHOES }], retry),
  hanging: scripted([{ error: 'model-overloaded' }, { hang: true, after: 'Hel' }], retry),
});

/** The provider as the host gets it, by its settings (R4.9, R4.10, R4.13, R4.15, R4.24, R4.70). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { TurnRequest } from '#core/agent/extension-host.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import type { HiveGround } from '#extensions/hive/hive-ground.ts';
import { hivemindProvider } from '#extensions/hive/open-hive.ts';
import { verifies } from '../../../verifies.ts';
import { speaksOfPeersOnly } from '../agent/hive-answers.ts';
import { groundOf } from '../agent/hive-compose.ts';
import { introduceByHand, NEVER } from '../agent/hive-scenes.ts';
import type { HiveStage, Rows } from '../agent/hive-stage.ts';

const SESSION = { sessionId: 's1', source: 'cli', cwd: '/', audience: 'primary' } as const;

export function rowsOfHost({ title, stage }: Rows): void {
  describe(`the host: ${title}`, () => {
    verifies(
      ['R4.10', 'R4.70', 'R4.9'],
      'availability with and without env: each missing variable is named, with the way to mend it; nothing is asked of a server',
      stage(async (on) => {
        const ground = await groundFor(on);
        assert.equal((await hivemindProvider(ground)).available().ok, true);
        for (const missing of ['MATRIX_HOMESERVER', 'MATRIX_USER_ID', 'MATRIX_ACCESS_TOKEN'])
          await isNotConfigured(ground, missing);
        const token = 'syt_a_token_that_nobody_may_read';
        const odd = await hivemindProvider(replacing(ground, { MATRIX_ACCESS_TOKEN: `${token} with a blank` }));
        const said = odd.available();
        assert.ok(!said.ok && !said.detail.includes(token));
      }),
    );

    verifies(
      ['R4.15', 'R4.24', 'R4.16', 'R4.2'],
      'inference goes through the one turn function of the host: fast tier, no tool, one step, bounded, with instructions of ours',
      stage(async (on) => {
        const asked: TurnRequest[] = [];
        const ground = await groundFor(on, (request) => {
          asked.push(request);
          return '{"needs":["rest"],"offers":[],"expertise":[],"summary_text":"Needs rest."}';
        });
        const provider = await hivemindProvider(ground);
        await provider.start(SESSION, NEVER);
        await provider.prefetch('hello', AbortSignal.timeout(30_000));
        await provider.turnEnded?.(SESSION, []);
        await provider.stop();
        assert.equal(asked.length, 1);
        const [{ purpose, tier, tools, maxSteps, maxOutputTokens, system = '', text }] = asked as [TurnRequest];
        assert.deepEqual(
          { purpose, tier, tools, maxSteps, maxOutputTokens },
          { purpose: 'peers', tier: 'T1', tools: [], maxSteps: 1, maxOutputTokens: 300 },
        );
        assert.ok(system.length > 0 && !system.includes('sleeps well'));
        assert.match(text, /sleeps well/);
      }),
    );

    verifies(
      ['R4.13', 'R4.10'],
      'a token that the server does not know: the turn goes on, the tools say it for the model, the owner is told',
      stage(async (on) => {
        const notices: string[] = [];
        const ground = replacing(await groundFor(on), { MATRIX_ACCESS_TOKEN: 'syt_no_such_token' });
        const provider = await hivemindProvider({ ...ground, notice: (text) => void notices.push(text) });
        await provider.start(SESSION, NEVER);
        const parts = await provider.prefetch('hello', AbortSignal.timeout(30_000)).catch(() => []);
        for (const { text } of parts) speaksOfPeersOnly(text, 'prefetch');
        await provider.turnEnded?.(SESSION, []);
        await provider.stop();
        assert.ok(notices.length > 0, 'the owner is told');
        for (const text of notices) assert.ok(!text.includes('syt_no_such_token'), text);
      }),
    );
  });
}

async function isNotConfigured(ground: HiveGround, missing: string): Promise<void> {
  const provider = await hivemindProvider(without(ground, missing));
  const available = provider.available();
  const said = available.ok ? '' : available.detail;
  assert.match(said, new RegExp(missing));
  assert.match(said, /talaria peers login/);
  await provider.start(SESSION, NEVER);
  await provider.prefetch('hello', NEVER).catch(() => []);
  for (const tool of provider.tools()) speaksOfPeersOnly(tool.description, tool.name);
  await provider.stop();
}

/** Settings of an agent that was introduced to one who sleeps well. */
async function groundFor(on: HiveStage, answer?: (request: TurnRequest) => string): Promise<HiveGround> {
  const alice = await on.raw('hermes-of-alice');
  const carol = await on.raw('hermes-of-carol');
  const account = await on.server.register('hermes-of-bob');
  await introduceByHand(alice, [
    [account, 'Bob'],
    [carol, 'Carol sleeps well.'],
  ]);
  const ground = groundOf(on.server, account, { ...on.mode, folder: on.emptyFolder() });
  if (answer === undefined) return ground;
  return {
    ...ground,
    open: async () => ({
      redact: (text) => text,
      runTurn: async function* (request): AsyncGenerator<TurnEvent> {
        yield endOf(answer(request));
      },
    }),
  };
}

function endOf(text: string): TurnEvent {
  return {
    type: 'turn-end',
    outcome: 'done',
    text,
    steps: 1,
    usage: NO_USAGE,
    cost: null,
    model: 'test/1',
    tier: 'T1',
    ms: 1,
  };
}

function replacing(ground: HiveGround, env: Readonly<Record<string, string>>): HiveGround {
  return {
    ...ground,
    settings: async () => {
      const settings = await ground.settings();
      return { ...settings, env: { ...settings.env, ...env } };
    },
  };
}

function without(ground: HiveGround, name: string): HiveGround {
  return {
    ...ground,
    settings: async () => {
      const settings = await ground.settings();
      return { ...settings, env: Object.fromEntries(Object.entries(settings.env).filter(([key]) => key !== name)) };
    },
  };
}

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';
import { TalariaError } from '#base/errors.ts';
import { createFabric } from '#base/fabric.ts';
import type { Room, RoomGround, SessionEvent } from '#public/talaria.ts';
import { keepSettings, lendGround } from '#surfaces/app/ground.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { OpenRooms } from '#surfaces/app/open-rooms.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { roomContract } from '../../contract/room.contract.ts';
import { createStage } from './app-fixture.ts';

roomContract('the house', {
  make: async (t, config) => {
    const temp = createTempHome(t);
    if (config !== undefined) temp.write('config.yaml', config);
    const clock = createManualClock();
    const events = createFabric<SessionEvent>(() => undefined);
    const notices: string[] = [];
    const environment = { variables: { TALARIA_HOME: temp.path }, cwd: temp.path, userHome: temp.path };
    const place = { environment, home: findHome(environment), clock, app: () => assert.fail('composes nothing') };
    const notice = (text: string) => void notices.push(text);
    const lend = () =>
      Object.assign(lendGround(place), { events, notice, opening: { rooms: [] } }) as unknown as Omit<
        RoomGround,
        'database'
      >;
    const rooms = new OpenRooms([], lend);
    t.after(() => rooms.close());
    return {
      root: temp.path,
      open: async (room) => void (await rooms.open(room)),
      close: () => rooms.close(),
      added: async () => [
        ...named('tool', rooms.each('tools').flat()),
        ...(await rooms.rules()).map(({ intent }) => `rule:${intent}`),
        ...rooms
          .each('tasks')
          .flat()
          .map((task) => `task:${task.schema}`),
        ...named('hooks', rooms.each('hooks').flat()),
      ],
      emit: (event) => events.emit(event),
      advance: (ms) => clock.advance(ms),
      notices: () => notices,
    };
  },
});

function named(kind: string, all: readonly { readonly name: string }[]): readonly string[] {
  return all.map(({ name }) => `${kind}:${name}`);
}

describe('settings that an extension reads and keeps', () => {
  test('secrets go to .env, settings to config.yaml, and what stood there stays', async (t) => {
    const { home, environment } = stage(t, '# mine\nmemory:\n  nudge_interval: 3\nunknown: 1\n');
    await keepSettings(home, {
      config: [
        { path: ['memory', 'provider'], value: 'hivemind' },
        { path: ['memory', 'env'], value: { SERVER: 'http://127.0.0.1:1', TOKEN: '${A_TOKEN}' } },
      ],
      secrets: { A_TOKEN: 'value with blanks', OTHER: 'x' },
    });
    const text = readFileSync(home.config, 'utf8');
    assert.match(text, /^# mine\n/);
    assert.match(text, /unknown: 1/);
    assert.match(text, /nudge_interval: 3/);
    assert.equal(statSync(home.env).mode & 0o777, 0o600);
    const clock = createManualClock();
    const ground = lendGround({ environment, home, clock, app: () => assert.fail('composes nothing') });
    const settings = await ground.settings();
    assert.equal(settings.provider, 'hivemind');
    assert.deepEqual(settings.env, { SERVER: 'http://127.0.0.1:1', TOKEN: 'value with blanks' });
  });

  test('an entry whose variable is not set is absent', async (t) => {
    const { home, environment } = stage(t, 'memory:\n  env:\n    TOKEN: ${NOT_SET_ANYWHERE}\n    SERVER: here\n');
    const clock = createManualClock();
    const ground = lendGround({ environment, home, clock, app: () => assert.fail('composes nothing') });
    assert.deepEqual((await ground.settings()).env, { SERVER: 'here' });
  });

  test('a secret that goes leaves after the settings that named it', async (t) => {
    const { home } = stage(t, 'version: 1\n');
    await keepSettings(home, { secrets: { OLD: 'of one server', KEPT: 'x' } });
    await keepSettings(home, {
      config: [{ path: ['memory', 'env'], value: { TOKEN: '${NEW}' } }],
      secrets: { NEW: 'of another', OLD: undefined },
    });
    assert.equal(readFileSync(home.env, 'utf8'), 'KEPT=x\nNEW="of another"\n');
  });

  test('what does not fit is refused before anything is written, the secrets too', async (t) => {
    const { home } = stage(t, 'version: 1\n');
    const before = readFileSync(home.config, 'utf8');
    const bad = { config: [{ path: ['memory', 'nudge_interval'], value: 'often' }], secrets: { A: 'b' } };
    await assert.rejects(
      keepSettings(home, bad),
      (error) => error instanceof TalariaError && error.code === 'config-value',
    );
    assert.equal(readFileSync(home.config, 'utf8'), before);
    assert.equal(existsSync(home.env), false);
  });

  test('a value of two lines is no variable, and the file of variables stays', async (t) => {
    const { home } = stage(t, 'version: 1\n');
    await assert.rejects(
      keepSettings(home, { secrets: { A: 'fine', B: 'two\nlines' } }),
      (error) => error instanceof TalariaError && error.code === 'env-invalid',
    );
    assert.equal(existsSync(home.env), false);
  });
});

function stage(t: Parameters<typeof createTempHome>[0], config: string) {
  const temp = createTempHome(t);
  temp.write('home/config.yaml', config);
  const environment = { variables: { TALARIA_HOME: `${temp.path}/home` }, cwd: temp.path, userHome: temp.path };
  return { home: findHome(environment), environment };
}

describe('another home in this process', () => {
  test('is opened as this one is, by a clock and with rooms of its own, and ends alone', async (t) => {
    const stage = createStage(t);
    const grounds: RoomGround[] = [];
    const watching = (name: string): Room => ({
      name,
      open: (ground) => {
        grounds.push(ground);
        return {};
      },
    });
    stage.temp.write('home/.env', 'OWN_KEY=of-the-owner\n');
    const client = createScriptedModel(['from there'], { context: t });
    const app = await stage.open({ extra: { client, rooms: [watching('outer')] } });
    const root = `${stage.root}/golems/luna`;
    const cwd = stage.temp.path;
    const clock = createManualClock({ now: Date.UTC(2040, 0, 1), auto: true });
    const [outer] = grounds;
    const opened = outer?.homeAt({ root, cwd, clock, rooms: [watching('inner')] });
    assert.ok(opened);
    const { ground } = opened;
    assert.deepEqual([ground.variables.TALARIA_HOME, ground.variables.OWN_KEY], [root, 'of-the-owner']);
    assert.equal(existsSync(root), false, 'nothing was asked of it');
    const mind = await ground.open();
    const request = { text: 'go', purpose: 'answer', tier: 'T2', tools: [], maxSteps: 1 } as const;
    const events = await Array.fromAsync(mind.runTurn(request, new AbortController().signal));
    assert.equal(events.at(-1)?.type, 'turn-end');
    const [session] = await mind.sessions.list({ limit: 5 });
    assert.deepEqual([session?.startedAt, session?.cwd], [clock.now(), cwd]);
    const homes = grounds.map(({ places }) => places.home);
    assert.deepEqual(homes, [stage.root, root, root], 'the rooms of this one, then its own');
    await opened.shutdown();
    await opened.shutdown();
    assert.equal(existsSync(`${root}/.env`), false);
    assert.deepEqual(await app.doors.sessions.list({ limit: 5 }), [], 'this one is open, and knows nothing of it');
  });
});

/** Which folders a session is opened in, and what it takes where it is not. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { roomCommands, shellCommands } from '#surfaces/app/commands/shell-commands.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { enterSession, folderProblem, refuseCommandInside, refuseTurnInside } from '#surfaces/app/home/session-door.ts';
import { verifies } from '../../../verifies.ts';
import { createStage } from '../app-fixture.ts';

describe('the folder of a session', () => {
  verifies('core:session:folder', 'is not the root, a system folder, the home, what is above it, or our own', (t) => {
    const { environment, temp, root } = createStage(t);
    const home = findHome(environment);
    const problemAt = (cwd: string) => folderProblem({ ...environment, cwd }, home)?.what ?? '';
    mkdirSync(join(root, 'skills'), { recursive: true });
    const linked = join(temp.path, 'linked');
    symlinkSync(temp.path, linked);
    assert.match(problemAt(temp.path), /is your home folder/);
    assert.match(problemAt(linked), /is your home folder/);
    const above = realpathSync(mkdtempSync(join(temp.path, 'above-')));
    const inner = { ...environment, userHome: join(above, 'home'), cwd: above };
    assert.match(folderProblem(inner, home)?.what ?? '', /is above your home folder/);
    for (const ours of [root, join(root, 'skills')]) assert.match(problemAt(ours), /keeps its own things/);
    const around = { ...environment, userHome: '/nonexistent' };
    assert.match(folderProblem({ ...around, cwd: temp.path }, home)?.what ?? '', /holds Talaria's own home/);
    for (const system of ['/', '/etc', '/etc/ssh', '/usr', '/usr/bin', '/var', '/home', '/proc/1', '/dev'])
      assert.match(problemAt(system), /belongs to the whole machine/, system);
  });

  verifies('core:session:folder', 'is any other, also behind a link', (t) => {
    const { environment, temp, cwd } = createStage(t);
    const link = join(temp.path, 'link');
    symlinkSync(cwd, link);
    for (const folder of [
      cwd,
      link,
      join(temp.path, 'home-of-mine'),
      '/usr/src/app',
      '/opt/app',
      '/srv/www',
      '/var/www',
      '/workspace',
    ])
      assert.equal(folderProblem({ ...environment, cwd: folder }, findHome(environment)), undefined, folder);
  });

  verifies('core:session:folder', 'is the home only for who says so twice', async (t) => {
    const stage = createStage(t);
    const environment = { ...stage.environment, cwd: stage.temp.path };
    const refused = { code: 'session-folder' };
    const asked: string[] = [];
    const typing = (answer: string) => async (question: string) => {
      asked.push(question);
      return answer;
    };
    await assert.rejects(enterSession(environment, { isMeant: false, ask: typing('yes') }), refused);
    assert.deepEqual(asked, []);
    for (const answer of ['y', '', 'no']) {
      await assert.rejects(enterSession(environment, { isMeant: true, ask: typing(answer) }), refused);
    }
    await enterSession(environment, { isMeant: true, ask: typing(' Yes ') });
    assert.match(asked[0] ?? '', /is your home folder[\s\S]*Type yes/);
    await assert.rejects(enterSession(environment, { isMeant: true }), /home folder/);
    for (const [path, isEnough] of [
      ['~/work', false],
      ['~:ro', false],
      ['~', true],
      [stage.temp.path, true],
    ] as const) {
      stage.temp.write('home/config.yaml', `sandbox: {paths: ["${path}"]}\n`);
      const entering = enterSession(environment, { isMeant: true });
      await (isEnough ? entering : assert.rejects(entering, refused));
      await assert.rejects(enterSession(environment, { isMeant: false }), refused);
    }
    await enterSession(stage.environment, { isMeant: false });
  });
});

/** Which commands a talaria runs that a command of an agent started. */

/** What only reads: a command that is not here is refused, and a new one that reads says so. */
const READING =
  `clade|clade owner|clade steers|config get|config path|config show|context|cost|cron list|cron next|cron runs|cron show|cron status|curator analyze|curator candidates-list|curator measure|curator report
  |curator skill-validate|curator status|diff|doctor|golem list|golem playbook|golem show|golem ticks|golem why|memory show|memory why|models list|models show|peers info|peers list|pending list|pending show
  |permissions show|rlm runs|rlm verify|sessions list|sessions search|sessions show|skills diff|skills list|skills log|skills show
  |skills why|tools|trace`
    .split('|')
    .map((name) => name.trim());

describe('inside', () => {
  verifies('core:inside:changes-refused', 'what is not on the list of what reads is refused', async (t) => {
    const { environment } = createStage(t, { TALARIA_INSIDE: '1' });
    const door = { environment, home: findHome(environment), clock: systemClock };
    const options = { environment, app: () => Promise.reject(new Error('no command runs here')) };
    const all = [...shellCommands(options), ...(await roomCommands(options))];
    const run = all.flatMap((command) => {
      try {
        refuseCommandInside(command, { repair: false }, door);
        return [command.name];
      } catch (error) {
        assert.match(String(error), /is for the owner, and a command of an agent started it/);
        return [];
      }
    });
    const names = new Set(all.map(({ name }) => name));
    // Of an extension that was deleted there is no command.
    assert.deepEqual(run.sort(), READING.filter((name) => names.has(name)).toSorted());
    const doctor = all.find(({ name }) => name === 'doctor');
    assert.ok(doctor);
    assert.throws(() => refuseCommandInside(doctor, { repair: true }, door), { code: 'inside' });
    assert.throws(() => refuseTurnInside(environment, []), { code: 'inside' });
  });

  test('a home without a store, or with one that is none, keeps nobody out', async (t) => {
    const { environment, temp } = createStage(t);
    const door = { environment, home: findHome(environment), clock: systemClock };
    const options = { environment, app: () => Promise.reject(new Error('no command runs here')) };
    const change = shellCommands(options).find(({ name }) => name === 'config set');
    assert.ok(change);
    assert.doesNotThrow(() => refuseCommandInside(change, {}, door));
    temp.write('home/state.db', 'not a database');
    assert.doesNotThrow(() => refuseCommandInside(change, {}, door));
    assert.equal(temp.read('home/state.db'), 'not a database');
  });
});

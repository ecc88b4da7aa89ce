/** Which commands a talaria runs that a command of an agent started. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { extensionCommands, shellCommands } from '#surfaces/app/commands/shell-commands.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { refuseCommandInside, refuseTurnInside } from '#surfaces/app/home/inside.ts';
import { verifies } from '../../../verifies.ts';
import { createStage } from '../app-fixture.ts';

/** What only reads: a command that is not here is refused, and a new one that reads says so. */
const READING =
  `config get|config path|config show|context|cost|curator analyze|curator candidates-list|curator measure|curator report
  |curator skill-validate|curator status|diff|doctor|memory show|memory why|models|peers info|peers list|pending list|pending show
  |permissions show|rlm runs|rlm verify|sessions list|sessions search|sessions show|skills diff|skills list|skills log|skills show
  |skills why|tools|trace`
    .split('|')
    .map((name) => name.trim());

describe('inside', () => {
  verifies('core:inside:changes-refused', 'what is not on the list of what reads is refused', async (t) => {
    const { environment } = createStage(t, { TALARIA_INSIDE: '1' });
    const door = { environment, home: findHome(environment), clock: systemClock };
    const options = { environment, app: () => Promise.reject(new Error('no command runs here')) };
    const all = [...shellCommands(options), ...(await extensionCommands(options))];
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

/** restore, config set, backup, import killed at their system calls: the next start says what happened and nothing acknowledged is lost. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { type Command, keeps, memoryOf, SAYS, survivesKills } from './killed-commands.ts';

const COMMANDS: Readonly<Record<string, Command>> = {
  restore: {
    args: ['restore', 'b.tar.gz', '--force'],
    check: ({ folder, home }, killed, next) => {
      const text = memoryOf(home);
      assert.ok([SAYS, 'what the backup says'].includes(text));
      assert.deepEqual(next.titles, [text], 'state.db is of the same home');
      const aside = readdirSync(folder).filter((name) => name.startsWith('home.before-'));
      assert.deepEqual(
        aside.map((name) => memoryOf(join(folder, name))),
        text === SAYS ? [] : [SAYS],
      );
      assert.ok(!existsSync(join(folder, '.home-restoring.json')), 'no intent stays');
      if (next.said !== '') assert.match(next.said, text === SAYS ? /was taken back/ : /is finished now/);
      if (/^.*\(\d+ files\)/.test(killed.out)) assert.notEqual(text, SAYS, 'it was acknowledged');
    },
  },
  'config set': {
    args: ['config', 'set', 'agent.max_steps', '9'],
    check: (place, killed, next) => {
      keeps(place, next);
      const text = readFileSync(join(place.home, 'config.yaml'), 'utf8');
      assert.match(text, /^# mine\nagent:\n {2}max_steps: [79]\n$/);
      if (killed.out.includes('is now')) assert.match(text, /9/);
    },
  },
  backup: {
    args: ['backup', 'new.tar.gz'],
    check: (place, killed, next) => {
      keeps(place, next);
      const file = join(place.folder, 'new.tar.gz');
      if (killed.out.includes('files,')) assert.ok(existsSync(file));
      if (existsSync(file)) assert.equal(spawnSync('tar', ['-tzf', file]).status, 0, 'whole, or not there');
    },
  },
  import: {
    args: ['import', 'hermes', '--from', 'hermes'],
    check: ({ home }, _killed, { titles }) => {
      assert.ok(titles.includes(SAYS));
      assert.match(memoryOf(home), new RegExp(`^${SAYS}`));
    },
  },
};

describe('kill −9 at system calls', () => {
  for (const [name, command] of Object.entries(COMMANDS)) survivesKills(name, command);
});

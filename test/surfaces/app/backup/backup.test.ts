import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { systemClock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { restoreBackup, unpackTar } from '#surfaces/app/backup/restore-backup.ts';
import { readPax, readTarHeader, tarEnd, tarHeader, tarPadding } from '#surfaces/app/backup/tar-format.ts';
import { writeBackup } from '#surfaces/app/backup/write-backup.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { runs } from '../../../property-runs.ts';
import { verifies } from '../../../verifies.ts';
import { createStage, runCommand } from '../app-fixture.ts';

const { signal } = new AbortController();
const rooms = [{ room: 'notes', steps: ['CREATE TABLE notes(text TEXT)'] }];

function sampleHome(temp: TempHome) {
  temp.write('home/config.yaml', 'version: 1\n');
  temp.write('home/.env', 'OPENAI_API_KEY=sentinel-in-env\n');
  temp.write('home/memories/MEMORY.md', 'likes tea');
  temp.write('home/cache/models.json', '{}');
  temp.write(`home/skills/deep/${'long-folder-name/'.repeat(9)}SKILL.md`, 'long path');
  return homeAt(join(temp.path, 'home'));
}

function tar(entries: readonly { readonly path: string; readonly text: string; readonly flag?: string }[]): Buffer {
  const blocks = entries.map(({ path, text, flag }) => {
    const header = tarHeader(path, text.length, 0);
    if (flag) {
      header.write(flag, 156);
      header.write('        ', 148);
      const sum = header.reduce((total, byte) => total + byte, 0);
      header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    }
    return Buffer.concat([header, Buffer.from(text), tarPadding(text.length)]);
  });
  return gzipSync(Buffer.concat([...blocks, tarEnd()]));
}

describe('backup and restore', () => {
  verifies(
    ['core:home:backup', 'core:home:one-folder'],
    'a home comes back whole, but for its secrets and caches',
    async (t) => {
      const temp = createTempHome(t);
      const home = sampleHome(temp);
      const { database } = openDatabase(home.stateDatabase, { rooms });
      t.after(() => database.close());
      await database.transaction(() => database.run('INSERT INTO notes VALUES(?)', 'still in the log'));
      const file = join(temp.path, 'backup.tar.gz');
      const report = await writeBackup(home, { file, withSecrets: false }, signal);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.ok(report.leftOut.some((line) => line.startsWith('.env ')));
      assert.ok(report.leftOut.some((line) => line.startsWith('cache ')));
      assert.equal(readFileSync(file).includes('sentinel'), false);

      const other = homeAt(join(temp.path, 'other'));
      const restored = await restoreBackup(other, { file, force: false, clock: systemClock }, signal);
      assert.ok(restored.ok);
      assert.equal(existsSync(other.env), false);
      assert.equal(readFileSync(join(other.memories, 'MEMORY.md'), 'utf8'), 'likes tea');
      assert.ok(restored.value.files.some((path) => path.length > 150));
      const copy = openDatabase(other.stateDatabase, { rooms }).database;
      t.after(() => copy.close());
      assert.deepEqual(
        copy.all<{ text: string }>('SELECT text FROM notes').map((row) => row.text),
        ['still in the log'],
      );
      assert.equal(statSync(other.root).mode & 0o777, 0o700);
      assert.equal(statSync(other.config).mode & 0o777, 0o600);
    },
  );

  verifies('core:home:backup', 'with --with-secrets the keys come along', async (t) => {
    const temp = createTempHome(t);
    const file = join(temp.path, 'b.tar.gz');
    const home = sampleHome(temp);
    temp.write('home/peers/store.key', 'sentinel of a key');
    const report = await writeBackup(home, { file, withSecrets: true }, signal);
    assert.ok(report.files.includes('.env'));
    assert.ok(report.files.includes('peers/store.key'));
    const without = await writeBackup(home, { file: `${file}2`, withSecrets: false }, signal);
    assert.equal(without.files.includes('peers/store.key'), false);
    assert.ok(without.leftOut.some((line) => line.startsWith('peers/store.key ')));
  });

  test('a home within the home loses the same: its keys, caches and worktree', async (t) => {
    const temp = createTempHome(t);
    const home = sampleHome(temp);
    const golem = ['golem.toml', 'golem.key', '.env', 'cache/a', 'worktree/b', 'testament/c.json'];
    for (const name of golem) temp.write(`home/golems/disk/${name}`, 'x');
    const report = await writeBackup(home, { file: join(temp.path, 'b.tar.gz'), withSecrets: false }, signal);
    const taken = report.files.filter((path) => path.startsWith('golems/'));
    assert.deepEqual(taken, ['golems/disk/golem.toml', 'golems/disk/testament/c.json']);
  });

  test('of the versions of skills the newest are taken, each whole', async (t) => {
    const temp = createTempHome(t);
    const home = sampleHome(temp);
    for (const stamp of ['20260101T000000000000Z', '20260102T000000000000Z', '20260103T000000000000Z']) {
      temp.write(`home/backups/skills/${stamp}/manifest.json`, '{}');
      temp.write(`home/backups/skills/${stamp}/support/assets/Cargo.lock`, 'x'.repeat(98));
    }
    temp.write('home/skills/.x.lock', '');
    const file = join(temp.path, 'b.tar.gz');
    const report = await writeBackup(home, { file, withSecrets: false, versionBytes: 250 }, signal);
    assert.deepEqual(
      report.files.filter((path) => path.startsWith('backups')),
      ['20260102T000000000000Z', '20260103T000000000000Z'].flatMap((stamp) => [
        `backups/skills/${stamp}/manifest.json`,
        `backups/skills/${stamp}/support/assets/Cargo.lock`,
      ]),
    );
    assert.ok(report.leftOut.includes('1 version of skills (the oldest: all together are too large)'));
    assert.ok(!report.files.includes('skills/.x.lock'));
  });

  test('the tar of this machine reads what we write', async (t) => {
    const temp = createTempHome(t);
    const file = join(temp.path, 'b.tar.gz');
    const report = await writeBackup(sampleHome(temp), { file, withSecrets: false }, signal);
    const listed = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n');
    assert.deepEqual(listed, report.files);
  });

  test('we read what the tar of this machine writes', async (t) => {
    const temp = createTempHome(t);
    sampleHome(temp);
    execFileSync('tar', ['-czf', join(temp.path, 'b.tgz'), '-C', join(temp.path, 'home'), '.']);
    mkdirSync(join(temp.path, 'into'));
    const files = await unpackTar(join(temp.path, 'b.tgz'), join(temp.path, 'into'), signal);
    assert.ok(files.includes('memories/MEMORY.md'));
    assert.ok(files.some((path) => path.length > 150));
  });

  test('a home that is not empty is refused, and moved aside with --force, its keys kept', async (t) => {
    const temp = createTempHome(t);
    const home = sampleHome(temp);
    const file = join(temp.path, 'b.tar.gz');
    await writeBackup(home, { file, withSecrets: false }, signal);
    writeFileSync(home.config, 'version: 1\nmodel: changed\n');
    const refused = await restoreBackup(home, { file, force: false, clock: systemClock }, signal);
    assert.equal(!refused.ok && refused.reason, 'home-not-empty');
    const forced = await restoreBackup(home, { file, force: true, clock: systemClock }, signal);
    assert.ok(forced.ok && forced.value.movedTo);
    assert.match(readFileSync(join(forced.value.movedTo, 'config.yaml'), 'utf8'), /changed/);
    assert.equal(readFileSync(home.config, 'utf8'), 'version: 1\n');
    assert.equal(forced.value.keptSecrets, true);
    assert.match(readFileSync(home.env, 'utf8'), /sentinel/);
  });

  test('paths that leave the home, links and damaged archives are refused and change nothing', async (t) => {
    const temp = createTempHome(t);
    const home = homeAt(join(temp.path, 'home'));
    const bad = {
      parent: tar([{ path: '../escaped', text: 'x' }]),
      inside: tar([{ path: 'a/../../escaped', text: 'x' }]),
      absolute: tar([{ path: '/tmp/escaped', text: 'x' }]),
      link: tar([{ path: 'link', text: '', flag: '2' }]),
      cut: tar([{ path: 'a', text: 'x'.repeat(9000) }]).subarray(0, 60),
      text: Buffer.from('no archive at all'),
      'gzip of text': gzipSync('x'.repeat(2000)),
    };
    for (const [name, bytes] of Object.entries(bad)) {
      const file = join(temp.path, `${name}.tar.gz`);
      writeFileSync(file, bytes);
      await assert.rejects(
        restoreBackup(home, { file, force: false, clock: systemClock }, signal),
        { code: 'archive-invalid' },
        name,
      );
    }
    assert.equal(existsSync(home.root), false);
    assert.equal(
      readdirSync(temp.path).some((name) => name.includes('escaped') || name.includes('restoring')),
      false,
    );
  });

  test('links in a home are named, not followed', async (t) => {
    const temp = createTempHome(t);
    const home = sampleHome(temp);
    symlinkSync('/etc/passwd', join(home.root, 'link'));
    const report = await writeBackup(home, { file: join(temp.path, 'b.tar.gz'), withSecrets: false }, signal);
    assert.ok(report.leftOut.some((line) => line.startsWith('link ')));
    assert.equal(report.files.includes('link'), false);
  });

  test('where it cannot be written, the folder is named, and no file of ours', async (t) => {
    const temp = createTempHome(t);
    const home = sampleHome(temp);
    const folder = join(temp.path, 'nowhere/deep');
    await assert.rejects(
      writeBackup(home, { file: join(folder, 'b.tgz'), withSecrets: false }, signal),
      new RegExp(`there is no folder ${folder}$`),
    );
    // Nothing can be made there, by root neither.
    await assert.rejects(writeBackup(home, { file: '/proc/b.tgz', withSecrets: false }, signal), (error: Error) => {
      return error.message.includes('/proc') && !error.message.includes('.partial');
    });
  });

  test('an existing file is not overwritten', async (t) => {
    const temp = createTempHome(t);
    const file = temp.write('b.tar.gz', 'precious');
    await assert.rejects(writeBackup(sampleHome(temp), { file, withSecrets: false }, signal), { code: 'file-exists' });
    assert.equal(temp.read('b.tar.gz'), 'precious');
  });

  test('any path and size come back from their header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), fc.nat(), (raw, size) => {
        const path = `f${raw.replaceAll('\0', '').replaceAll('\n', '')}`.toWellFormed();
        const bytes = tarHeader(path, size, 5);
        const first = readTarHeader(bytes.subarray(0, 512));
        assert.ok(first.ok && first.value);
        const found = first.value.kind === 'pax' ? readPax(bytes.subarray(512, 512 + first.value.size)) : first.value;
        assert.equal(found.path, path);
        assert.equal(found.size, size);
      }),
      { numRuns: runs(300) },
    );
  });
});

/** What the owner can still do after a home was brought back. */

const skill = (body: string) => `---\nname: tidy\ndescription: Tidy the desk.\n---\n\n# Tidy\n\n${body}\n`;

describe('a home that came back from a backup', () => {
  test('a skill can be rolled back to a version from before it', async (t) => {
    const stage = createStage(t);
    const app = await stage.open();
    const write = async (change: Parameters<typeof app.doors.door.write>[0]['change']) => {
      const done = await app.doors.door.write({ name: 'tidy', change, actor: 'owner', approved: true });
      assert.ok(done.ok, done.ok ? '' : done.detail);
      await app.doors.skills.refresh();
    };
    await write({ action: 'create', content: skill('Put the pens away.') });
    await write({ action: 'edit', content: skill('Throw the pens away.') });
    await app.shutdown();
    const made = await runCommand(stage, 'backup', { file: 'b.tar.gz' });
    assert.equal(made.failure, undefined, made.text);
    assert.doesNotMatch(made.text, /backups/);
    rmSync(stage.root, { recursive: true });
    const elsewhere = join(stage.temp.path, 'elsewhere');
    const moved = {
      ...stage,
      environment: { ...stage.environment, variables: { ...stage.environment.variables, TALARIA_HOME: elsewhere } },
    };
    const restored = await runCommand(moved, 'restore', { file: 'b.tar.gz' });
    assert.equal(restored.failure, undefined, restored.text);
    const undone = await runCommand(moved, 'skills rollback', { name: 'tidy' });
    assert.equal(undone.failure, undefined, undone.text);
    assert.match(readFileSync(join(elsewhere, 'skills/tidy/SKILL.md'), 'utf8'), /Put the pens away/);
  });

  test('what a memory provider keeps elsewhere is named as left out', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/config.yaml', 'memory:\n  provider: attic\n');
    const made = await runCommand(stage, 'backup', { file: 'b.tar.gz' });
    assert.match(made.text, /left out: what the memory provider attic keeps outside the home/);
  });
});

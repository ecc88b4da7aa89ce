import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CHILD, EMPTY, FIRST, FROM_FILE, GROUP, SUBAGENT, writeHermesHome } from './hermes-home.ts';
import { createImportStage, reasonOf, takenOf } from './import-stage.ts';

const LAYOUTS = [
  { version: 26, layout: 'inline' },
  { version: 26, layout: 'external', cjk: true },
  { version: 30, layout: 'external', cjk: true },
  { version: 30, layout: 'inline' },
] as const;

/** Every file below a folder with its bytes. */
function bytesBelow(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((path) => [path, readFileSync(path, 'latin1')]));
}

describe('import hermes: sessions', () => {
  for (const options of LAYOUTS) {
    const name = `schema ${options.version}, ${options.layout}${'cjk' in options ? ', tokeniser missing' : ''}`;
    test(`${name}: ids, times, parents, origins and every kind of row come over`, async (t) => {
      const stage = createImportStage(t);
      const hermes = writeHermesHome(stage.temp, options);
      const before = bytesBelow(hermes.path);
      const run = await stage.run({ from: hermes.path });
      assert.deepEqual(bytesBelow(hermes.path), before, 'the other home was changed');
      hermes.state.close();
      assert.equal(takenOf(run, 'sessions'), 6, run.text);
      assert.equal(
        existsSync(stage.home.cache) && readdirSync(stage.home.cache).some((f) => f.startsWith('import-')),
        false,
      );

      const store = stage.store();
      const first = await store.get(FIRST);
      assert.deepEqual(
        [first?.source, first?.title, first?.cwd, first?.startedAt, first?.endedAt, first?.model],
        ['cli', 'the bree migration', '/srv/bree', 1_788_000_000_250, 1_788_000_900_000, 'anthropic/claude-opus-4.6'],
      );
      const messages = (await store.messages(FIRST)).map(({ message }) => message);
      assert.deepEqual(
        messages.map(({ role }) => role),
        ['user', 'assistant', 'tool', 'assistant'],
      );
      assert.deepEqual(messages[0]?.parts[0], {
        type: 'text',
        text: 'Dump the bree database to /srv/bree/dump.sql please',
        origin: 'owner',
      });
      assert.deepEqual(
        messages[1]?.parts.map((part) => [part.type, part.origin]),
        [
          ['reasoning', 'model'],
          ['tool-call', 'model'],
        ],
      );
      const result = messages[2]?.parts[0];
      assert.ok(result?.type === 'tool-result');
      assert.deepEqual(
        [result.name, result.origin, result.isError, result.observed.exitCode],
        ['terminal', 'foreign', false, 0],
      );
      assert.deepEqual(
        messages[3]?.parts.map((part) => part.type),
        ['reasoning', 'text'],
      );
      assert.equal((await store.messages(FIRST))[0]?.at, 1_788_000_001_500);

      const child = await store.get(CHILD);
      assert.deepEqual(
        [child?.source, child?.parentId, child?.chatId, child?.userId],
        ['telegram', FIRST, '777', '42'],
      );
      const context = (await store.messages(CHILD)).map(({ message }) => message);
      const asked = context.find((message) =>
        message.parts.some((part) => 'text' in part && part.text.startsWith('Which host')),
      );
      assert.deepEqual(
        asked?.parts.map((part) => [part.origin, part.type === 'text' ? part.label : undefined]),
        [
          ['foreign', 'context'],
          ['owner', undefined],
        ],
      );
      const summary = context[0]?.parts[0];
      assert.deepEqual(
        [summary?.origin, summary?.type === 'text' && summary.label],
        options.version === 30 ? ['model', 'summary'] : ['owner', undefined],
      );
      assert.deepEqual([first?.messageCount, first?.toolCallCount], [4, 1]);
      assert.equal(child?.messageCount, options.version === 30 ? 4 : 5);
      const last = context.at(-1);
      assert.equal(last?.role === 'assistant' && last.cut, 'length');

      const group = (await store.messages(GROUP)).map(({ message }) => message);
      assert.ok(
        group
          .filter(({ role }) => role === 'user')
          .every(({ parts }) => parts.every(({ origin }) => origin === 'foreign')),
      );
      assert.match(JSON.stringify(group[1]), /harbourcrane.*\[image_url left out at import\]/);
      assert.ok(!JSON.stringify(group).includes('base64'));
      assert.equal((await store.get(SUBAGENT))?.source, 'subagent');
      assert.equal((await store.get(EMPTY))?.messageCount, 0);
      assert.match(run.text, /1 row left out: no messages/);

      const found = async (word: string) =>
        (await store.search(word)).filter(({ snippet }) => snippet.includes(word)).map(({ sessionId }) => sessionId);
      assert.deepEqual(await found('compactedword'), [CHILD]);
      assert.deepEqual(await found('rewoundquestion'), []);
      assert.deepEqual(await found('filedsession'), [FROM_FILE]);
      assert.deepEqual(await found('recalledtext'), []);
      assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
    });
  }

  test('the log of a running program is read too, and a second run takes nothing', async (t) => {
    const stage = createImportStage(t);
    const hermes = writeHermesHome(stage.temp, { version: 30 });
    t.after(() => hermes.state.close());
    await stage.run({ from: hermes.path, keys: true });
    const again = await stage.run({ from: hermes.path, keys: true });
    assert.deepEqual(Object.values(again.data.taken).flat(), [], again.text);
    assert.match(again.text, /nothing new came/);
    assert.equal(again.data.kinds.find((row) => row.kind === 'sessions')?.here, 6);

    hermes.state.message({
      session_id: CHILD,
      role: 'user',
      content: 'and the latersaid word?',
      timestamp: 1_788_009_999,
    });
    const third = await stage.run({ from: hermes.path });
    assert.deepEqual(third.data.taken.sessions, [CHILD]);
    assert.match((await stage.store().search('latersaid'))[0]?.snippet ?? '', /latersaid/);
  });

  test('a session that went on here is left; a message that was forgotten here stays forgotten', async (t) => {
    const stage = createImportStage(t);
    const hermes = writeHermesHome(stage.temp, { version: 30 });
    t.after(() => hermes.state.close());
    await stage.run({ from: hermes.path });
    const store = stage.store();
    await store.append(CHILD, { role: 'user', parts: [{ type: 'text', text: 'said here', origin: 'owner' }] });
    const [gone] = await store.messages(FIRST);
    store.database.run('DELETE FROM tool_calls WHERE message_id = ?', gone?.id ?? 0);
    store.database.run('DELETE FROM spoken_terms WHERE id = ?', gone?.id ?? 0);
    store.database.run('DELETE FROM messages WHERE id = ?', gone?.id ?? 0);
    const again = await stage.run({ from: hermes.path });
    assert.deepEqual(again.data.taken.sessions, undefined);
    assert.equal((await store.list({ limit: 100 })).length, 6);
  });

  test('another conversation with the same id gets a name of its own, and its children follow', async (t) => {
    const stage = createImportStage(t);
    const hermes = writeHermesHome(stage.temp, { version: 30 });
    t.after(() => hermes.state.close());
    const store = stage.store();
    await store.ensure(FIRST, { source: 'cli', cwd: '/' });
    await store.append(FIRST, { role: 'user', parts: [{ type: 'text', text: 'something else', origin: 'owner' }] });
    for (const taken of [6, 0]) {
      const run = await stage.run({ from: hermes.path });
      assert.equal(takenOf(run, 'sessions'), taken, run.text);
    }
    assert.equal((await store.get(`${FIRST}-imported`))?.title, 'the bree migration');
    assert.equal((await store.get(CHILD))?.parentId, `${FIRST}-imported`);
    assert.equal((await store.messages(FIRST)).length, 1);
  });

  test('keys of either home stay out of what was said', async (t) => {
    const stage = createImportStage(t);
    const hermes = writeHermesHome(stage.temp, { version: 30 });
    t.after(() => hermes.state.close());
    stage.temp.write('home/.env', 'OPENAI_API_KEY=our-own-key-99\n');
    const content = 'the keys are or-test-value-1234 and our-own-key-99';
    hermes.state.message({ session_id: EMPTY, role: 'user', content, timestamp: 1_788_180_001 });
    for (const taken of [6, 0])
      assert.equal(takenOf(await stage.run({ from: hermes.path, keys: true }), 'sessions'), taken);
    const [stored] = await stage.store().messages(EMPTY);
    assert.deepEqual(stored?.message.parts[0], {
      type: 'text',
      text: 'the keys are [redacted] and [redacted]',
      origin: 'owner',
    });
  });

  test('a session that another process has open is not added to', async (t) => {
    const stage = createImportStage(t);
    const hermes = writeHermesHome(stage.temp, { version: 30 });
    t.after(() => hermes.state.close());
    await stage.run({ from: hermes.path });
    const lease = await stage.store().claim(CHILD);
    assert.ok(lease.ok);
    hermes.state.message({ session_id: CHILD, role: 'user', content: 'more', timestamp: 1_788_009_999 });
    assert.match(reasonOf(await stage.run({ from: hermes.path }), CHILD), /has this session open/);
  });

  test('a dry run changes nothing and says what would come', async (t) => {
    const stage = createImportStage(t);
    const hermes = writeHermesHome(stage.temp, { version: 26 });
    t.after(() => hermes.state.close());
    const run = await stage.run({ from: hermes.path, dryRun: true, keys: true });
    assert.deepEqual(
      ['sessions', 'skills', 'memories', 'identity', 'keys'].map((kind) => takenOf(run, kind)),
      [6, 2, 3, 1, 1],
    );
    assert.match(run.text, /would come/);
    const files = readdirSync(stage.home.root).filter((file) => !file.startsWith('state.db'));
    assert.deepEqual(files, ['cache']);
    assert.deepEqual(await stage.store().list(), []);
  });
});

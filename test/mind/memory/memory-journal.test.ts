/** The journal of memory writes: kept, mended, undone. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { userMessage } from '#core/model/message.ts';
import { foregroundCitations } from '#mind/evidence/citations.ts';
import { operationsOf, type ProposalLedger } from '#mind/evidence/proposal.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createMemoryFiles, type MemoryFiles } from '#mind/memory/memory-files.ts';
import { changeOf, keptEntry } from '#mind/memory/memory-journal.ts';
import { reconcileMemory, undoMemoryWrite } from '#mind/memory/mend-memory.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { createFaults, type Faults, failEachOperation } from '#testing/faults.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { tempProposalLedger } from '../../doubles/temp-stores.ts';
import { breakDisk } from '../../fault/failing-disk.ts';
import { stride } from '../../property-runs.ts';

/** Every memory write as a proposal: rows, provenance, undo, start-up, and a crash at each operation. */

interface Room {
  readonly files: MemoryFiles;
  readonly ledger: ProposalLedger;
  readonly clock: ManualClock;
  readonly root: string;
}

function room(context: TestContext): Room {
  const root = join(createTempHome(context).path, 'memories');
  const clock = createManualClock({ auto: true });
  const ledger = tempProposalLedger(clock);
  return { files: createMemoryFiles({ root, clock, journal: { ledger } }), ledger, clock, root };
}

const add = (content: string) => ({ action: 'add', content }) as const;
const remove = (oldText: string) => ({ action: 'remove', oldText }) as const;
const replace = (oldText: string, content: string) => ({ action: 'replace', oldText, content }) as const;

async function written(files: MemoryFiles, ...operations: Parameters<MemoryFiles['apply']>[1]): Promise<string> {
  const result = await files.apply('user', operations, { actor: 'agent', sessionId: 's1' });
  assert.ok(result.ok, JSON.stringify(result));
  return result.value.proposalId ?? '';
}

function entries(files: MemoryFiles): readonly string[] {
  const state = files.read('user');
  assert.ok(state.ok);
  return state.value.entries;
}

describe('memory journal', () => {
  test('a write is a proposal with both hashes, and its entry says where it comes from', async (context) => {
    const { files, ledger, root } = room(context);
    const citations = [{ handle: 'message:1', quote: 'I like tea' }];
    const first = await files.apply('user', [add('Likes tea.')], { actor: 'agent', sessionId: 's1', citations });
    assert.ok(first.ok);
    const second = await written(files, add('Has a dog.'));
    const one = ledger.get(first.value.proposalId ?? '');
    assert.partialDeepStrictEqual(one, {
      kind: 'memory',
      actor: 'agent',
      target: 'user',
      action: 'add',
      sessionId: 's1',
      citations,
      status: 'applied',
      path: join(root, 'USER.md'),
      beforeHash: null,
      afterHash: sha256('Likes tea.'),
      change: { target: 'user', action: 'add', content: 'Likes tea.' },
    });
    assert.partialDeepStrictEqual(ledger.get(second), { beforeHash: sha256('Likes tea.'), citations: [] });
    assert.equal(ledger.why(keptEntry('user', 'Likes tea.'))[0]?.proposal.id, one?.id);
    assert.deepEqual(ledger.why(keptEntry('user', 'Written by hand.')), []);
  });

  test('a refusal and a write that changes nothing are decided, the file untouched', async (context) => {
    const { files, ledger } = room(context);
    await written(files, add('Likes tea.'));
    const same = await files.apply('user', [add('Likes tea.')]);
    assert.ok(same.ok);
    assert.partialDeepStrictEqual(ledger.get(same.value.proposalId ?? ''), { status: 'dropped', reason: 'unchanged' });
    const refused = await files.apply('user', [remove('coffee')], { actor: 'owner' });
    assert.equal(refused.ok, false);
    const long = await files.apply('user', [add('x'.repeat(2000))]);
    assert.equal(long.ok, false);
    const reasons = ledger.list({ status: 'refused' }).map(({ reason, actor }) => [reason, actor]);
    assert.deepEqual(reasons, [
      ['over_limit', 'agent'],
      ['not_found', 'owner'],
    ]);
    assert.deepEqual(entries(files), ['Likes tea.']);
  });

  test('a proposal that was judged before is used, not doubled', async (context) => {
    const { files, ledger } = room(context);
    const change = changeOf('user', [add('Likes tea.')]);
    const { id } = await ledger.open({
      kind: 'memory',
      actor: 'review',
      target: 'user',
      action: 'add',
      change,
      citations: [],
    });
    await ledger.decide(id, { status: 'pending', reason: 'origin-not-allowed' });
    const operations = operationsOf(ledger.get(id)?.change ?? {});
    assert.ok(typeof operations !== 'string');
    const result = await files.apply('user', operations, { actor: 'review', proposalId: id });
    assert.ok(result.ok && result.value.proposalId === id);
    assert.deepEqual(
      ledger.list().map(({ status }) => status),
      ['applied'],
    );
  });

  test('operations are read back from the change they were written as', () => {
    for (const operations of [[add('a')], [remove('b')], [replace('a', 'b')], [add('a'), replace('b', 'c')]]) {
      assert.deepEqual(operationsOf(changeOf('user', operations)), operations);
    }
    assert.equal(typeof operationsOf({}), 'string');
    assert.equal(typeof operationsOf({ action: 'replace', content: 'x' }), 'string');
    assert.equal(typeof operationsOf({ operations: ['x'] }), 'string');
  });

  test('undo puts back what a write changed: what came goes, what went comes', async (context) => {
    const { files, ledger } = room(context);
    const door = { files, ledger };
    await written(files, add('Likes tea.'), add('Has a dog.'));
    const replaced = await written(files, replace('tea', 'Likes coffee.'), remove('dog'), add('Lives in Porto.'));
    assert.deepEqual(entries(files), ['Likes coffee.', 'Lives in Porto.']);
    assert.ok((await undoMemoryWrite(door, replaced)).ok);
    assert.deepEqual(entries(files), ['Likes tea.', 'Has a dog.']);
    assert.equal(ledger.list({ actor: 'rollback' })[0]?.status, 'applied');
    const again = await undoMemoryWrite(door, replaced);
    assert.equal(again.ok ? '' : again.reason, 'target-changed');
  });

  test('undo leaves what was edited since, and names what it cannot undo', async (context) => {
    const { files, ledger, root } = room(context);
    const door = { files, ledger };
    const id = await written(files, add('Likes tea.'));
    writeFileSync(join(root, 'USER.md'), 'Likes tea and cake.');
    const undone = await undoMemoryWrite(door, id);
    assert.equal(undone.ok ? '' : undone.reason, 'target-changed');
    assert.deepEqual(entries(files), ['Likes tea and cake.']);
    const unknown = await undoMemoryWrite(door, 'prop_0');
    assert.equal(unknown.ok ? '' : unknown.reason, 'no-such-proposal');
    await files.apply('user', [remove('nothing')]);
    const refused = await undoMemoryWrite(door, ledger.list({ status: 'refused' })[0]?.id ?? '');
    assert.equal(refused.ok ? '' : refused.reason, 'nothing-to-undo');
  });

  test('start-up: a file edited by hand in between is kept and said so', async (context) => {
    const { files, ledger, root, clock } = room(context);
    mkdirSync(root, { recursive: true });
    const { id } = await ledger.open({
      kind: 'memory',
      actor: 'agent',
      target: 'user',
      action: 'add',
      change: {},
      citations: [],
    });
    const undo = { added: ['Likes tea.'], removed: [] };
    await ledger.begin(id, { path: files.path('user'), beforeHash: null, afterHash: sha256('Likes tea.'), undo });
    writeFileSync(join(root, 'USER.md'), 'Likes tea.\n§\nMine.');
    const [decided] = await reconcileMemory(files, ledger, clock);
    assert.partialDeepStrictEqual(decided, { id, status: 'edited', reason: 'edited-by-hand' });
    assert.equal(readFileSync(join(root, 'USER.md'), 'utf8'), 'Likes tea.\n§\nMine.');
    assert.equal(ledger.why(keptEntry('user', 'Likes tea.')).length, 1);
    assert.equal(ledger.why(keptEntry('user', 'Mine.')).length, 0);
    assert.deepEqual(await reconcileMemory(files, ledger, clock), []);
  });

  test('start-up: what was only opened long ago is dropped', async (context) => {
    const { files, ledger, clock } = room(context);
    const draft = { kind: 'memory', actor: 'agent', target: 'user', action: 'add', change: {}, citations: [] } as const;
    const old = await ledger.open(draft);
    await clock.advance(700_000);
    const fresh = await ledger.open(draft);
    await reconcileMemory(files, ledger, clock);
    assert.deepEqual([ledger.get(old.id)?.status, ledger.get(fresh.id)?.status], ['dropped', 'proposed']);
  });
});

interface Home {
  readonly store: SqliteSessionStore;
  readonly ledger: ProposalLedger;
}

function openHome(folder: string): Home {
  const store = createSqliteSessionStore({ path: join(folder, 'state.db'), rooms: [evidenceSchema] });
  return { store, ledger: createProposalLedger({ database: store.database }) };
}

const DOOR = ['open', 'begin', 'attach', 'decide'] as const;

describe('memory journal: faults', () => {
  test('the owner line of the turn and the call are what a foreground write rests on', async (context) => {
    const home = createTempHome(context);
    const { store, ledger } = openHome(home.path);
    context.after(() => store.close());
    const { id: sessionId } = await store.create({ source: 'test', cwd: '/' });
    const said = await store.append(sessionId, userMessage('remember that I like tea'));
    const parts = [{ type: 'tool-call', callId: 'c', name: 'memory', arguments: {}, origin: 'model' }] as const;
    const called = await store.append(sessionId, { role: 'assistant', model: 'm', parts });
    const citationsOf = (id: string) => foregroundCitations(store.database, id);
    const files = createMemoryFiles({ root: join(home.path, 'memories'), journal: { ledger, citationsOf } });
    await files.apply('user', [add('Likes tea.')], { sessionId });
    const [why] = ledger.why(keptEntry('user', 'Likes tea.'));
    assert.deepEqual(
      why?.citations.map(({ messageId, quote }) => [messageId, quote]),
      [
        [said.id, 'remember that I like tea'],
        [called.id, ''],
      ],
    );
    assert.equal(why?.citations[0]?.text, 'remember that I like tea');
  });

  for (const kind of ['crash', 'failure'] as const) {
    test(`a ${kind} at any operation leaves the old or the new file, and start-up agrees with it`, async () => {
      let folder = '';
      const tried = await failEachOperation({
        every: stride(4),
        run: async (faults) => {
          const home = createTempHome();
          folder = home.path;
          const { store, ledger } = openHome(folder);
          try {
            await onePlannedWrite(folder, ledger, kind === 'crash' ? crashing(faults) : faults);
          } finally {
            await store.close();
          }
        },
        check: async ({ failed, thrown }) => {
          const { store, ledger } = openHome(folder);
          try {
            rmSync(join(folder, 'memories', 'USER.md.lock'), { force: true }); // its holder is dead
            await checkAfterwards(folder, ledger, { failed, thrown });
          } finally {
            await store.close();
            rmSync(folder, { recursive: true, force: true });
          }
        },
      });
      assert.ok(tried >= 16, `${tried} operations`);
    });
  }
});

/** After the first failure nothing works any more: the process is gone. */
function crashing(faults: Faults): Faults {
  const step = (operation: string): void => {
    if (faults.failed !== undefined) throw new Error('dead');
    faults.step(operation);
  };
  const { wrap } = createFaults({ failAt: 0 });
  return {
    step,
    wrap: (target, methods) => {
      const steps = methods.map(
        (name) =>
          [
            name,
            (...args: unknown[]) => {
              step(name);
              return Reflect.apply(Reflect.get(target, name) as () => unknown, target, args);
            },
          ] as const,
      );
      return Object.assign(Object.create(wrap(target, [])), Object.fromEntries(steps));
    },
    get failed() {
      return faults.failed;
    },
    get count() {
      return faults.count;
    },
  };
}

async function onePlannedWrite(folder: string, ledger: ProposalLedger, faults: Faults): Promise<void> {
  const root = join(folder, 'memories');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'USER.md'), 'old');
  const counted: ProposalLedger = {
    open: (draft) => ledger.open(draft),
    begin: (id, hashes) => ledger.begin(id, hashes),
    decide: (id, decision) => ledger.decide(id, decision),
    attach: (thing, id) => ledger.attach(thing, id),
    get: (id) => ledger.get(id),
    list: (filter) => ledger.list(filter),
    why: (thing) => ledger.why(thing),
    reconcile: (hashOf) => ledger.reconcile(hashOf),
  };
  const disk = breakDisk(root, faults);
  try {
    const files = createMemoryFiles({
      root,
      journal: { ledger: faults.wrap(counted, DOOR) },
      clock: createManualClock({ auto: true }),
    });
    await files.apply('user', [add('new')]);
  } finally {
    disk.mend();
  }
}

async function checkAfterwards(
  folder: string,
  ledger: ProposalLedger,
  { failed, thrown }: { readonly failed: string | undefined; readonly thrown: unknown },
): Promise<void> {
  const root = join(folder, 'memories');
  const files = createMemoryFiles({ root, journal: { ledger } });
  await reconcileMemory(files, ledger);
  const now = readFileSync(join(root, 'USER.md'), 'utf8');
  assert.ok(now === 'old' || now === 'old\n§\nnew', `torn after ${failed}: ${now}`);
  assert.ok(existsSync(root));
  const isNew = now !== 'old';
  const [proposal] = ledger.list();
  const expected = isNew ? ['applied'] : ['dropped', 'refused', 'proposed', undefined];
  assert.ok(expected.includes(proposal?.status), `${failed}: ${proposal?.status} while the file is ${now}`);
  assert.equal(ledger.why(keptEntry('user', 'new')).length, isNew ? 1 : 0, `provenance after ${failed}`);
  if (failed === undefined) assert.ok(isNew && thrown === undefined);
  const undone = await undoMemoryWrite({ files, ledger }, proposal?.id ?? '');
  assert.equal(undone.ok, isNew);
  assert.equal(readFileSync(join(root, 'USER.md'), 'utf8'), 'old');
}

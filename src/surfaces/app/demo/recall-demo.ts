// Owns the first demo: two processes; the second knows what the first was told. Knows no tool and no rule.
// Invariant: what it says was left is read back from the files.
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Home } from '../home/home.ts';
import { broken, type DemoOptions, line, openStage } from './demo-stage.ts';

const PORT = '4711';
const FIRST = [
  'read notes.txt',
  'run `wc -w notes.txt`',
  `remember that my project is called sandal and its port is ${PORT}`,
];
const SECOND = ['what do you know about sandal'];

const NOTES = `Sandal: notes for the demo
Decision: the service listens on port 4711, since 8080 was taken.
Owner: you.
`;

/** Throws TalariaError `demo-failed` when a process fails or what it should have left is not there. */
export async function* runRecallDemo(options: DemoOptions, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const place = openStage(options, { 'notes.txt': NOTES });
  yield line('Talaria demo: two processes, no key, no language model (reflex/1), nothing staged.');
  yield line(`home    ${place.home.root}`);
  yield line(`folder  ${place.folder}`);
  yield line('');
  yield line('First process: reads a file, runs a command, remembers a fact.');
  yield* place.chat(FIRST, signal);
  yield line('');
  yield line('Second process, started anew: recalls it.');
  const recalled: string[] = [];
  for await (const output of place.chat(SECOND, signal)) {
    if (output.type === 'line') recalled.push(output.text);
    yield output;
  }
  if (!recalled.some((text) => text.includes(PORT)))
    throw broken('the second process did not recall the fact', place.home);
  yield line('');
  yield* report(place.home);
}

/** What the two processes left, read back from their files. */
async function* report(home: Home): AsyncGenerator<CommandOutput> {
  const memory = createMemoryFiles({ root: home.memories });
  const store = createSqliteSessionStore({ path: home.stateDatabase, readOnly: true });
  try {
    const sessions = await store.list({ limit: 10 });
    const entries = (['memory', 'user'] as const).flatMap((target) => {
      const state = memory.read(target);
      return state.ok && state.value.entries.length > 0
        ? [{ path: memory.path(target), entries: state.value.entries }]
        : [];
    });
    if (sessions.length < 2 || entries.length === 0) {
      throw broken('the demo did not leave two sessions and a memory', home);
    }
    yield line('What was stored, and where:');
    yield line(`  sessions ${home.stateDatabase}`);
    for (const session of sessions)
      yield line(`    ${session.id}  ${session.messageCount} messages, ${session.toolCallCount} tool calls`);
    for (const { path, entries: kept } of entries) {
      yield line(`  memory   ${path}`);
      for (const entry of kept) yield line(`    § ${entry}`);
    }
    const costs = await store.costs();
    const total = costs.reduce((sum, row) => sum + row.cost, 0);
    yield line(`What it cost: $${total.toFixed(4)} in ${costs.reduce((sum, row) => sum + row.calls, 0)} model calls`);
    yield line(`Look around: TALARIA_HOME=${home.root} talaria sessions list`);
    yield {
      type: 'data',
      value: {
        home: home.root,
        sessions: sessions.map((session) => session.id),
        memory: entries.map((entry) => entry.path),
        cost: total,
      },
    };
  } finally {
    await store.close();
  }
}

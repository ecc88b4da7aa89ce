// Owns `memory why`: the messages behind an entry of the memory files. Knows the evidence by the ledger only.
import { z } from 'zod';
import { sha256 } from '#base/ids.ts';
import type { JsonValue } from '#base/json.ts';
import { ok, type Result } from '#base/result.ts';
import { failed, refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { MEMORY_TARGETS, type MemoryTarget } from '#mind/memory/memory-files.ts';
import type { App } from '../../app.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { provenanceLines } from '../provenance-lines.ts';

interface Entry {
  readonly target: MemoryTarget;
  readonly text: string;
}

export function whyMemoryCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'memory why',
    summary: 'Show the messages that an entry rests on',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['text...'],
    input: z.object({
      text: z.array(z.string()).default([]).describe('A piece of the entry; all entries when absent'),
    }),
    examples: ['talaria memory why staging server'],
    async *run({ text }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const entries = allEntries(app);
      if (!entries.ok) {
        yield failed(entries.reason, entries.detail);
        return;
      }
      const wanted = text.join(' ').toLowerCase();
      const found = entries.value.filter((entry) => entry.text.toLowerCase().includes(wanted));
      if (found.length === 0) {
        yield refused('not-found', `No entry holds "${text.join(' ')}".`, '`talaria memory show` shows them.');
        return;
      }
      const data: JsonValue[] = [];
      for (const entry of found) {
        const known = whyOf(app, entry);
        yield line(`§ ${entry.text}`);
        for (const row of known.flatMap(provenanceLines)) yield line(row);
        if (known.length === 0) yield line('  nothing is known: it was written by hand');
        data.push({ ...entry, provenance: known } as unknown as JsonValue);
      }
      yield { type: 'data', value: data };
    },
  });
}

function allEntries(app: App): Result<readonly Entry[], 'unreadable'> {
  const entries: Entry[] = [];
  for (const target of MEMORY_TARGETS) {
    const state = app.memory.read(target);
    if (!state.ok) return state;
    entries.push(...state.value.entries.map((entry) => ({ target, text: entry })));
  }
  return ok(entries);
}

function whyOf(app: App, { target, text }: Entry) {
  return app.proposals.why({ kind: 'memory', target, key: sha256(text) });
}

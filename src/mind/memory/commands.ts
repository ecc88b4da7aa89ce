// Owns `memory show|add|replace|remove`: both files as a person sees and changes them, through the one door of mind/memory.
import { z } from 'zod';
import { sha256 } from '#base/ids.ts';
import type { JsonValue } from '#base/json.ts';
import { ok, type Result } from '#base/result.ts';
import { type AnyCommand, type CommandOutput, defineCommand, failed, line, refused } from '#core/agent/command-spec.ts';
import { fault, good, type HealthLine } from '#core/agent/health.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { provenanceLines } from '#mind/evidence/citations.ts';
import type { MemoryOperation } from '#mind/evidence/proposal.ts';
import { createMemoryFiles, MEMORY_TARGETS, type MemoryFiles, type MemoryTarget } from './memory-files.ts';

const target = z.enum(['memory', 'user']).default('memory').describe('memory: about the work; user: about you');

export function memoryCommands(ground: Ground): readonly AnyCommand[] {
  return [show(ground), add(ground), replace(ground), remove(ground), whyMemoryCommand(ground)];
}

function filesOf(ground: Ground): MemoryFiles {
  return createMemoryFiles({ root: ground.places.memories, clock: ground.clock });
}

/** For `doctor`: can each file be read, and how full is it? */
export function checkMemory(root: string): readonly HealthLine[] {
  const files = createMemoryFiles({ root });
  return MEMORY_TARGETS.map((target) => {
    const state = files.read(target);
    const name = target === 'user' ? 'USER.md' : 'MEMORY.md';
    return state.ok ? good(name, state.value.usage) : fault(name, state.detail, `Look at ${files.path(target)}.`);
  });
}

function show(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'memory show',
    summary: 'Show what is remembered, and how full it is',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const files = filesOf(ground);
      const states: JsonValue[] = [];
      for (const name of MEMORY_TARGETS) {
        const state = files.read(name);
        if (!state.ok) return yield failed(state.reason, state.detail);
        yield line(`${name === 'user' ? 'USER.md' : 'MEMORY.md'} [${state.value.usage}] ${files.path(name)}`);
        for (const entry of state.value.entries) yield line(`  § ${entry.replaceAll('\n', '\n    ')}`);
        states.push({ ...state.value, path: files.path(name) } as unknown as JsonValue);
      }
      yield { type: 'data', value: states };
    },
  });
}

function add(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'memory add',
    summary: 'Remember something',
    surfaces: ['cli', 'chat'],
    positional: ['text...'],
    input: z.object({ text: z.array(z.string()).min(1), target }),
    examples: [
      'talaria memory add the staging server is called bree',
      'talaria memory add --target user prefers short answers',
    ],
    run: (input, context) =>
      change(ground, input.target, { action: 'add', content: input.text.join(' ') }, context.signal),
  });
}

function replace(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'memory replace',
    summary: 'Replace the one entry that holds a text',
    surfaces: ['cli'],
    positional: ['old', 'text...'],
    input: z.object({
      old: z.string().describe('A piece of the entry that is meant'),
      text: z.array(z.string()).min(1),
      target,
    }),
    run: (input, context) =>
      change(
        ground,
        input.target,
        { action: 'replace', oldText: input.old, content: input.text.join(' ') },
        context.signal,
      ),
  });
}

function remove(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'memory remove',
    summary: 'Forget the one entry that holds a text',
    surfaces: ['cli', 'chat'],
    positional: ['text...'],
    input: z.object({ text: z.array(z.string()).min(1).describe('A piece of the entry that is meant'), target }),
    run: (input, context) =>
      change(ground, input.target, { action: 'remove', oldText: input.text.join(' ') }, context.signal),
  });
}

async function* change(
  ground: Ground,
  name: MemoryTarget,
  operation: MemoryOperation,
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  await ground.writable();
  const mind = await ground.open();
  const changed = await mind.memory.apply(name, [operation], { actor: 'owner', signal });
  if (!changed.ok) {
    const matches = changed.matches?.map((entry) => `\n  § ${entry}`).join('') ?? '';
    return yield refused(changed.reason, `${changed.detail}${matches}`, 'Nothing was changed.');
  }
  for (const message of changed.value.messages) yield line(`${message} [${changed.value.usage}]`);
  yield { type: 'data', value: { target: name, usage: changed.value.usage, entries: changed.value.entries } };
}

// `memory why`: the messages behind an entry of the memory files. Knows the evidence by the ledger only.

interface Entry {
  readonly target: MemoryTarget;
  readonly text: string;
}

function whyMemoryCommand(ground: Ground): AnyCommand {
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
      const mind = await ground.open();
      const entries = allEntries(mind);
      if (!entries.ok) return yield failed(entries.reason, entries.detail);
      const wanted = text.join(' ').toLowerCase();
      const found = entries.value.filter((entry) => entry.text.toLowerCase().includes(wanted));
      if (found.length === 0)
        return yield refused('not-found', `No entry holds "${text.join(' ')}".`, '`talaria memory show` shows them.');
      const data: JsonValue[] = [];
      for (const entry of found) {
        const known = whyOf(mind, entry);
        yield line(`§ ${entry.text}`);
        for (const row of known.flatMap(provenanceLines)) yield line(row);
        if (known.length === 0) yield line('  nothing is known: it was written by hand');
        data.push({ ...entry, provenance: known } as unknown as JsonValue);
      }
      yield { type: 'data', value: data };
    },
  });
}

function allEntries(mind: Mind): Result<readonly Entry[], 'unreadable'> {
  const entries: Entry[] = [];
  for (const target of MEMORY_TARGETS) {
    const state = mind.memory.read(target);
    if (!state.ok) return state;
    entries.push(...state.value.entries.map((entry) => ({ target, text: entry })));
  }
  return ok(entries);
}

function whyOf(mind: Mind, { target, text }: Entry) {
  return mind.proposals.why({ kind: 'memory', target, key: sha256(text) });
}

// Owns `memory show|add|replace|remove`: both files as a person sees and changes them, through the one door of mind/memory.
// Knows no file format. Invariant: the same limits, scans and locks hold as for the agent's own tool.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { failed, refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { MemoryOperation } from '#mind/evidence/memory-operation.ts';
import { createMemoryFiles, MEMORY_TARGETS, type MemoryFiles, type MemoryTarget } from '#mind/memory/memory-files.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { whyMemoryCommand } from './why-memory-command.ts';

const target = z.enum(['memory', 'user']).default('memory').describe('memory: about the work; user: about you');

export function memoryCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [show(deps), add(deps), replace(deps), remove(deps), whyMemoryCommand(deps)];
}

function filesOf(deps: CommandDeps): MemoryFiles {
  return createMemoryFiles({ root: deps.home.memories, clock: deps.clock });
}

function show(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'memory show',
    summary: 'Show what is remembered, and how full it is',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const files = filesOf(deps);
      const states: JsonValue[] = [];
      for (const name of MEMORY_TARGETS) {
        const state = files.read(name);
        if (!state.ok) {
          yield failed(state.reason, state.detail);
          return;
        }
        yield line(`${name === 'user' ? 'USER.md' : 'MEMORY.md'} [${state.value.usage}] ${files.path(name)}`);
        for (const entry of state.value.entries) yield line(`  § ${entry.replaceAll('\n', '\n    ')}`);
        states.push({ ...state.value, path: files.path(name) } as unknown as JsonValue);
      }
      yield { type: 'data', value: states };
    },
  });
}

function add(deps: CommandDeps): AnyCommand {
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
      change(deps, input.target, { action: 'add', content: input.text.join(' ') }, context.signal),
  });
}

function replace(deps: CommandDeps): AnyCommand {
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
        deps,
        input.target,
        { action: 'replace', oldText: input.old, content: input.text.join(' ') },
        context.signal,
      ),
  });
}

function remove(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'memory remove',
    summary: 'Forget the one entry that holds a text',
    surfaces: ['cli', 'chat'],
    positional: ['text...'],
    input: z.object({ text: z.array(z.string()).min(1).describe('A piece of the entry that is meant'), target }),
    run: (input, context) =>
      change(deps, input.target, { action: 'remove', oldText: input.text.join(' ') }, context.signal),
  });
}

async function* change(
  deps: CommandDeps,
  name: MemoryTarget,
  operation: MemoryOperation,
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  const app = await deps.app();
  refuseNewerHome(app);
  const changed = await app.memory.apply(name, [operation], { actor: 'owner', signal });
  if (!changed.ok) {
    const matches = changed.matches?.map((entry) => `\n  § ${entry}`).join('') ?? '';
    yield refused(changed.reason, `${changed.detail}${matches}`, 'Nothing was changed.');
    return;
  }
  for (const message of changed.value.messages) yield line(`${message} [${changed.value.usage}]`);
  yield { type: 'data', value: { target: name, usage: changed.value.usage, entries: changed.value.entries } };
}

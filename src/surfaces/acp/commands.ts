// Owns the word `acp`: an editor on the other side of standard input and output. Knows no protocol.
// Invariants: nothing else reaches standard output; it ends with its input.
import { z } from 'zod';
import { type AnyCommand, defineCommand, refused } from '#core/agent/command-spec.ts';
import type { EditorGround } from './agent.ts';

export function acpCommands(ground: EditorGround): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'acp',
      summary: 'Serve an editor that speaks the Agent Client Protocol',
      surfaces: ['cli'],
      input: z.object({}),
      async *run(_: unknown, { stdio, signal }) {
        if (!stdio) return yield refused('no-stdio', 'an editor starts `talaria acp`; it is no command of a chat');
        const { serveEditor } = await import('./agent.ts');
        await serveEditor(ground, stdio, signal);
      },
    }),
  ];
}

// Owns `sessions search`: finding what was said, verbatim. Knows no ranking.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { type CommandDeps, line } from '../command-deps.ts';

export function searchCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'sessions search',
    summary: 'Find what was said, by plain words',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['words...'],
    input: z.object({
      words: z.array(z.string()).min(1).describe('A question in plain words'),
      limit: z.coerce.number().int().positive().max(100).default(10).describe('How many'),
    }),
    examples: ['talaria sessions search what did we decide about the port'],
    async *run({ words, limit }): AsyncGenerator<CommandOutput> {
      const { store } = await deps.app();
      const hits = await store.search(words.join(' '), { limit });
      if (hits.length === 0) yield line('nothing found');
      for (const hit of hits) {
        const message = await store.get(hit.sessionId);
        const at = isoTime(hit.at).slice(0, 16).replace('T', ' ');
        yield line(
          `${hit.sessionId} #${hit.messageId} ${at} ${hit.role}${message?.title ? ` · ${message.title}` : ''}`,
        );
        yield line(`  ${readable(hit.snippet)}`);
      }
      yield { type: 'data', value: hits as unknown as JsonValue };
    },
  });
}

/** On one line, without the marks around the words that were found: those are for programs. */
function readable(snippet: string): string {
  return snippet.replace(/>>>([\s\S]*?)<<</g, '$1').replaceAll('\n', ' ');
}

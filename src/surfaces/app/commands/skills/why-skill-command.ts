// Owns `skills why`: the messages behind each version of a skill. Knows the evidence by the ledger only.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { provenanceLines } from '../provenance-lines.ts';

export function whySkillCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills why',
    summary: 'Show the messages that a skill rests on, version by version',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['name'],
    input: z.object({ name: z.string() }),
    async *run({ name }): AsyncGenerator<CommandOutput> {
      const { skills, proposals } = await deps.app();
      const versions = skills.door.versions(name).toSorted((a, b) => b.version - a.version);
      if (versions.length === 0) {
        yield refused(
          'nothing-known',
          `Nothing is known of where ${name} comes from: it does not exist, or it was written by hand.`,
          '`talaria skills list` shows the skills.',
        );
        return;
      }
      const data: JsonValue[] = [];
      for (const version of versions) {
        const known = proposals.why({ kind: 'skill', target: name, key: String(version.version) });
        yield line(`version ${version.version}: ${version.action} by ${version.actor}`);
        for (const text of known.flatMap(provenanceLines)) yield line(text);
        if (known.length === 0) yield line('  no messages are cited');
        data.push({ version: version.version, provenance: known } as unknown as JsonValue);
      }
      yield { type: 'data', value: data };
    },
  });
}

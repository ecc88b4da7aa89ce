// Owns `curator measure SKILL`: whether the edits of a skill helped, by its uses. Reads only.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { requiredText } from '../flags.ts';

const NAME_IT = 'name it: curator measure SKILL';

export function measureCommand({ open }: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator measure',
    summary: 'Show success rate and cost of a skill before and after each of its edits',
    surfaces: ['cli'],
    readOnly: true,
    positional: ['skill'],
    input: z.object({
      skill: requiredText(NAME_IT).trim().min(1, NAME_IT).describe('Name of the skill'),
      format: z.enum(['text', 'json']).default('text').describe('How the result is printed'),
    }),
    examples: ['talaria curator measure release-notes'],
    async *run({ skill, format }): AsyncGenerator<CommandOutput> {
      const [mind, { readMeasurement }, { MEASURE_COLUMNS, measurementRows }, { dumpJson }] = await Promise.all([
        open(),
        import('../../measure/measure-skill.ts'),
        import('../../measure/measure-skill.ts'),
        import('../../text/dump-json.ts'),
      ]);
      const measured = readMeasurement(mind, skill);
      if (measured === undefined) {
        yield refused(
          'nothing-to-measure',
          `Neither a write nor a use of ${skill} is known.`,
          '`talaria skills list` shows the skills; a use counts when a turn reads a skill and then works.',
        );
        return;
      }
      if (format === 'json') yield { type: 'line', text: dumpJson(measured) };
      else yield { type: 'table', columns: MEASURE_COLUMNS, rows: measurementRows(measured) };
      yield { type: 'data', value: measured as unknown as JsonValue };
    },
  });
}

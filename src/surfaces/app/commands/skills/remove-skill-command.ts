// Owns `skills remove`: a skill goes into the archive, by the owner's word. Invariant: it can be brought back by `skills rollback`.
import { z } from 'zod';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { doorRefusal, findSkill, isAgreed, noSuchSkill, notAgreed } from './skill-deps.ts';

export function removeSkillCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills remove',
    summary: 'Remove a skill; `skills rollback` brings it back',
    surfaces: ['cli', 'chat'],
    positional: ['name'],
    input: z.object({ name: z.string(), yes: z.boolean().default(false).describe('Do not ask') }),
    async *run({ name, yes }, context): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      const skill = await findSkill(app, name);
      if (!skill) {
        yield noSuchSkill(name);
        return;
      }
      const agreed = await isAgreed(`Remove ${skill.name} (${skill.folder})?`, yes, context);
      if (agreed !== true) {
        yield notAgreed(agreed, `Removing ${skill.name}`);
        return;
      }
      const removed = await app.skills.door.write(
        { name: skill.name, change: { action: 'delete' }, actor: 'owner', approved: true, expectedHash: skill.hash },
        context.signal,
      );
      if (!removed.ok) {
        yield doorRefusal(removed);
        return;
      }
      await app.skills.library.refresh();
      yield line(`Removed ${skill.name}. \`talaria skills rollback ${skill.name}\` brings it back.`);
      yield { type: 'data', value: { ...removed.value } };
    },
  });
}

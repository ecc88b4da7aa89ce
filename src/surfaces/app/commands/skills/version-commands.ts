// Owns `skills log`, `diff` and `rollback`: what was written, by whom, and undoing it. Knows versions by the door only.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { SkillVersion, SkillWritten } from '#mind/skills/skill-door.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { isAgreed, notAgreed } from './skill-deps.ts';

const name = z.string();

export function logSkillCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills log',
    summary: 'Show every version of a skill: when, by whom, what',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['name'],
    input: z.object({ name }),
    async *run(input): AsyncGenerator<CommandOutput> {
      const versions = (await deps.app()).skills.door.versions(input.name);
      if (versions.length === 0) {
        yield noVersion(input.name);
        return;
      }
      yield {
        type: 'table',
        columns: ['version', 'when', 'by', 'what', 'state'],
        rows: versions.map((version) => [
          String(version.version),
          isoTime(version.at),
          version.actor,
          version.action,
          version.rolledBackAt === undefined ? '' : `undone ${isoTime(version.rolledBackAt)}`,
        ]),
      };
      yield { type: 'data', value: versions as unknown as JsonValue };
    },
  });
}

export function diffSkillCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills diff',
    summary: 'Show what changed between two versions of a skill; the last change when none is named',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['name', 'from', 'to'],
    input: z.object({
      name,
      from: z.coerce.number().int().min(0).optional().describe('Version; 0 is what stood there before the first'),
      to: z.coerce.number().int().min(0).optional().describe('Version; the present one when absent'),
    }),
    async *run(input): AsyncGenerator<CommandOutput> {
      const { door } = (await deps.app()).skills;
      const last = newest(door.versions(input.name));
      if (last === undefined) {
        yield noVersion(input.name);
        return;
      }
      const to = input.to ?? last.version;
      const diff = await door.diff(input.name, { from: input.from ?? Math.max(0, to - 1), to });
      yield diff.ok ? line(diff.value) : refused(diff.reason, diff.detail, 'See `talaria skills log`.');
    },
  });
}

export function rollbackSkillCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills rollback',
    summary: 'Undo the last change of a skill, or a named version; its first one goes only with your yes',
    surfaces: ['cli', 'chat'],
    positional: ['name', 'version'],
    input: z.object({
      name,
      version: z.coerce.number().int().min(1).optional().describe('The version to undo; the last one when absent'),
      force: z.boolean().default(false).describe('Also when the file was edited by hand since'),
      yes: z.boolean().default(false).describe('Do not ask before the skill itself goes'),
    }),
    async *run(input, context): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      if (isFirst(app.skills.door.versions(input.name), input.version)) {
        const agreed = await isAgreed(
          `That is how ${input.name} began: undo it, so that it is gone?`,
          input.yes,
          context,
        );
        if (agreed !== true) {
          yield notAgreed(agreed, `Removing ${input.name}`);
          return;
        }
      }
      const target = { skill: input.name, ...(input.version === undefined ? {} : { version: input.version }) };
      const undone = await app.skills.door.rollback(target, { force: input.force, actor: 'rollback' });
      if (!undone.ok) {
        yield refused(undone.reason, undone.detail, ROLLBACK_FIXES[undone.reason] ?? 'See `talaria skills log`.');
        return;
      }
      await app.skills.library.refresh();
      yield line(undoneLine(input.name, undone.value));
      yield { type: 'data', value: { ...undone.value } };
    },
  });
}

const ROLLBACK_FIXES: Readonly<Record<string, string>> = {
  'target-changed': 'Look at it, then add --force.',
  'manifest-changed': 'Put the manifest back as it was written; --force does not go over it.',
};

/** Would undoing it leave no skill? */
function isFirst(versions: readonly SkillVersion[], asked: number | undefined): boolean {
  const standing = versions.filter(({ action, rolledBackAt }) => action !== 'rollback' && rolledBackAt === undefined);
  const meant = asked === undefined ? newest(standing) : versions.find(({ version }) => version === asked);
  return meant !== undefined && meant.originalHash === null && meant.newHash !== null;
}

function undoneLine(skill: string, { version, path, newHash }: SkillWritten): string {
  return newHash === null
    ? `${skill} is gone (its first version was undone). \`talaria skills rollback ${skill} ${version}\` brings it back.`
    : `Undone. ${skill} is at version ${version}: ${path}`;
}

function newest(versions: readonly SkillVersion[]): SkillVersion | undefined {
  return versions.toSorted((a, b) => b.version - a.version)[0];
}

function noVersion(skill: string): CommandOutput {
  return refused(
    'no-such-version',
    `No write of ${skill} is known: it does not exist, or it was only ever edited by hand.`,
    '`talaria skills list` shows the skills.',
  );
}

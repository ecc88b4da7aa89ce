// Owns `curator apply` (curator notes 11, 16): the owner's own guarded write of one SKILL.md. Prints JSON. Knows no door.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { requiredText, verifyFlags } from '../flags.ts';
import { editKept, printed } from '../printed.ts';

const input = z.object({
  target: requiredText('name it: --target FILE').describe('SKILL.md of a skill in the home'),
  contentFile: requiredText('name it: --content-file FILE').describe('File with the whole new text'),
  expectedSha256: requiredText('name it: --expected-sha256 HASH').describe('SHA-256 that the target has now'),
  backupDir: z.string().min(1).optional().describe('Where a copy of the backup goes'),
  ...verifyFlags,
  approve: z.boolean().default(false).describe('Your approval; without it nothing is written'),
});

export function applyCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator apply',
    summary: 'Write a SKILL.md guarded: hash, backup, checks, and undone when a check fails',
    surfaces: ['cli'],
    input,
    examples: ['talaria curator apply --target SKILL.md --content-file new.md --expected-sha256 HASH --approve'],
    async *run(asked, { cwd, signal }): AsyncGenerator<CommandOutput> {
      const place = { cwd, userHome: ground.places.userHome };
      const [{ readSkillFile }, { applyByOwner }, { verifiersOf }] = await Promise.all([
        import('../../run/gather/read-skill-file.ts'),
        import('../../run/manual/apply-by-owner.ts'),
        import('../../run/write/run-verifiers.ts'),
      ]);
      const content = readSkillFile(typedPath(asked.contentFile, place));
      if (!content.ok) {
        yield wrongUse(
          'content-file-unreadable',
          content.detail,
          'Name a UTF-8 text file of at most 100,000 characters.',
        );
        return;
      }
      const { preVerifyCommand: preVerify = null, verifyCommand: verify = null, verifyCwd, backupDir } = asked;
      const checks = { preVerify, verify, cwd: verifyCwd === undefined ? null : typedPath(verifyCwd, place) };
      const order = {
        target: typedPath(asked.target, place),
        content: content.value,
        expectedHash: asked.expectedSha256,
        backupDir: backupDir === undefined ? ground.places.skillBackups : typedPath(backupDir, place),
        approved: asked.approve,
        verifiers: await verifiersOf(checks, ground, signal),
      };
      const result = await applyByOwner({ ground, mind: await ground.open() }, order, signal);
      yield* printed({ result, format: 'json', text: () => '' });
      const { applied, reason, detail = '', archive_path: archived } = result;
      if (applied) return;
      const fix = archived === undefined ? 'Nothing was changed.' : editKept([archived]);
      yield isGate(reason) ? refused(reason, detail, fix) : failed(reason, detail, fix);
    },
  });
}

/** Faults of checks and of the disk are failures, all else is a refusal. */
function isGate(reason: string): boolean {
  return !['verify-failed', 'disk-full', 'no-permission', 'write-failed'].includes(reason);
}

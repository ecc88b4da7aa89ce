// Owns the commands that write skills or take it back: `curator auto-run`, `apply`, `rollback` and `restore-drill`, with the original's names and
// defaults (curator notes 8.1, 11, 12, 16).
import { z } from 'zod';
import {
  type AnyCommand,
  type CommandOutput,
  type Failure,
  failed,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { AutoRun } from '../run/run-outcome.ts';
import { curatorCommand, editKept, emptyPattern, flag, missingFolderNote, pathReader, printed } from './flags.ts';

export function applyCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator apply',
    summary: 'Write a SKILL.md guarded: hash, backup, checks, and undone when a check fails',
    input: z.object({
      target: flag.required('name it: --target FILE').describe('SKILL.md of a skill in the home'),
      contentFile: flag.required('name it: --content-file FILE').describe('File with the whole new text'),
      expectedSha256: flag.required('name it: --expected-sha256 HASH').describe('SHA-256 that the target has now'),
      backupDir: flag.text('Where a copy of the backup goes'),
      ...flag.verify,
      approve: flag.on('Your approval; without it nothing is written'),
    }),
    examples: ['talaria curator apply --target SKILL.md --content-file new.md --expected-sha256 HASH --approve'],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const [{ readSkillFile }, { applyByOwner }, { verifiersOf }] = await Promise.all([
        import('../skill-files.ts'),
        import('../run/by-owner.ts'),
        import('../run/write-skill.ts'),
      ]);
      const at = pathReader(ground, context);
      const content = readSkillFile(at(asked.contentFile));
      const textFix = 'Name a UTF-8 text file of at most 100,000 characters.';
      if (!content.ok) return yield wrongUse('content-file-unreadable', content.detail, textFix);
      const { preVerifyCommand = null, verifyCommand = null, verifyCwd, backupDir } = asked;
      const place = { cwd: at(verifyCwd) ?? null, ground, signal: context.signal };
      const order = {
        target: at(asked.target),
        content: content.value,
        expectedHash: asked.expectedSha256,
        backupDir: at(backupDir) ?? ground.places.skillBackups,
        approved: asked.approve,
        verifiers: await verifiersOf(preVerifyCommand, verifyCommand, place),
      };
      const result = await applyByOwner(ground, await ground.open(), order, context.signal);
      yield* printed(result);
      const { applied, reason, detail = '', archive_path: archived } = result;
      if (applied) return;
      const fix = archived === undefined ? 'Nothing was changed.' : editKept([archived]);
      // Faults of checks and of the disk are failures, all else is a refusal.
      const hasFailed = ['verify-failed', 'disk-full', 'no-permission', 'write-failed'].includes(reason);
      yield hasFailed ? failed(reason, detail, fix) : refused(reason, detail, fix);
    },
  });
}

export function rollbackCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator rollback',
    summary: 'Undo the write that a manifest belongs to, support files included',
    input: z.object({
      manifest: flag.required('name it: --manifest FILE').describe('manifest.json of the backup'),
      force: flag.on('Also when the skill was edited since'),
    }),
    examples: ['talaria curator rollback --manifest ~/.talaria/backups/skills/STAMP/manifest.json'],
    async *run({ manifest, force }, context): AsyncGenerator<CommandOutput> {
      const { rollBackManifest } = await import('../run/by-owner.ts');
      const path = pathReader(ground, context)(manifest);
      const result = await rollBackManifest(ground, await ground.open(), path, force);
      yield* printed(result);
      const { rolled_back: isDone, reason, detail = '' } = result;
      if (!isDone) yield refused(reason, detail, ROLLBACK_FIXES[reason] ?? 'See `talaria skills log SKILL`.');
    },
  });
}

const ROLLBACK_FIXES: Readonly<Record<string, string>> = {
  'target-changed': 'Look at it, then add --force.',
  'manifest-changed': 'Put the manifest back as it was written; --force does not go over it.',
  'no-such-version': 'Manifests lie beside the backups; `talaria skills log SKILL` shows the versions.',
};

export function restoreDrillCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator restore-drill',
    summary: 'Prove that a backup can be restored, in a folder apart',
    input: z.object({
      manifest: flag.required('name it: --manifest FILE').describe('manifest.json of the backup'),
      targetDir: flag.text('Empty folder to restore into; a temporary one when absent'),
      stateFile: flag.text('Where the drill is remembered; beside the backups when absent'),
      format: z.enum(['json', 'markdown']).default('json').describe('How the report is printed'),
    }),
    examples: ['talaria curator restore-drill --manifest ~/.talaria/backups/skills/STAMP/manifest.json'],
    async *run({ manifest, targetDir, stateFile, format }, context): AsyncGenerator<CommandOutput> {
      const { drillManifest, drillMarkdown } = await import('../run/by-owner.ts');
      const at = pathReader(ground, context);
      const places = { targetDir: at(targetDir), stateFile: at(stateFile) };
      const report = await drillManifest(ground, at(manifest), places);
      yield* printed(report, format, () => drillMarkdown(report));
      const { status, errors, state_error: fault } = report;
      if (status === 'fail') yield failed('restore-drill-failed', `The drill failed: ${errors.join(', ')}.`, DRILL_FIX);
      else if (fault !== undefined) yield failed('restore-drill-state-unreadable', fault, STATE_FIX);
    },
  });
}

const DRILL_FIX =
  'Nothing live was touched. Look at the backup; the version itself is still shown by `talaria skills log`.';
const STATE_FIX = 'Move that file away and drill again; what was applied last is known without it.';

export function autoRunCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator auto-run',
    summary: 'Plan, and with both write flags make, small notes of evidence in skills that the agent made',
    input: z.object({
      days: z.number().default(7).describe('Days of evidence that count, 1 to 3650'),
      skillsDir: flag.text("Folder of the skills; only the home's own is ever written"),
      backupDir: flag.text('Where a copy of each backup goes'),
      maxSkills: z.number().default(3).describe('Skills that one run may write, 1 to 25'),
      minEvidence: z.number().default(2).describe('Events that make a skill eligible, 1 to 1000'),
      semanticCandidates: flag.on('Order eligible skills by the embedding model'),
      rerankCandidates: flag.on('And the best of them by the reranker'),
      applyLowRisk: flag.on('Write; only together with --approve-auto-apply'),
      approveAutoApply: flag.on('Your approval of what this run writes'),
      protectCoreSkills: z.boolean().default(true).describe('Write skills with names of core skills too'),
      ...flag.patterns,
      ...flag.verify,
      variants: z.number().default(1).describe('Variants of the note to choose from, 1 to 4'),
      requireRestoreDrill: flag.on('Write only after a passed restore drill of the last write'),
      restoreDrillStateFile: flag.text('Where applies and drills are remembered'),
      format: z.enum(['markdown', 'json']).default('markdown'),
    }),
    examples: ['talaria curator auto-run', 'talaria curator auto-run --apply-low-risk --approve-auto-apply'],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const empty = emptyPattern(asked);
      if (empty) return yield empty;
      const [mind, { runAutoRun }, { autoRunExit, planMarkdown }, { runSettings }, { createRank }] = await Promise.all([
        ground.open(),
        import('../run/auto-run.ts'),
        import('../run/run-outcome.ts'),
        import('../run/run-flags.ts'),
        import('../rank-skills.ts'),
      ]);
      const at = pathReader(ground, context);
      const { skillsDir, backupDir, verifyCwd, restoreDrillStateFile } = asked;
      const typed = { skillsDir, backupDir, verifyCwd, restoreDrillStateFile };
      const paths = Object.entries(typed).flatMap(([key, path]) => (path === undefined ? [] : [[key, at(path)]]));
      const flags = { ...asked, ...Object.fromEntries(paths) };
      const done = await runAutoRun({ ground, mind, rank: createRank(ground, mind) }, flags, context.signal);
      if (!done.ok) return yield refused(done.reason, done.detail, 'Nothing was written; try again later.');
      const { value: run } = done;
      const note = missingFolderNote(flags.skillsDir);
      const result = note === undefined ? run : { ...run, note };
      yield* printed(result, asked.format, () => `${planMarkdown(run)}${note === undefined ? '' : `\n${note}`}`);
      const code = autoRunExit(run, runSettings(ground, flags));
      if (code !== 0) yield ending(code, run.candidates);
    },
  });
}

/** What was tried, or held back for the moment, speaks first; without any the reasons of the skipped. */
function reasonsOf(candidates: AutoRun['candidates']): readonly string[] {
  const tried = candidates.flatMap(({ reason, apply_result: result }) => {
    if (result) return result.applied ? [] : [result.reason];
    return reason === 'restore-drill-required' ? [reason] : [];
  });
  return [...new Set(tried.length > 0 ? tried : candidates.flatMap(({ reason }) => reason ?? []))];
}

function ending(code: 1 | 3, candidates: AutoRun['candidates']): Failure {
  const reasons = reasonsOf(candidates);
  const [first = 'refused'] = reasons;
  const why = reasons.join(', ');
  const archived = candidates.flatMap(({ apply_result: result }) => result?.archive_path ?? []);
  const stands = archived.length > 0 ? editKept(archived) : 'What failed stands as it was before.';
  if (code === 1) return failed(first, `Not everything could be written: ${why}.`, stands);
  return refused(
    first,
    `Nothing was written: ${why}.`,
    RUN_FIXES[first] ?? 'See reason and apply_result of the candidates.',
  );
}

const RUN_FIXES: Readonly<Record<string, string>> = {
  'auto-approval-required': 'Add --approve-auto-apply.',
  'restore-drill-required': 'Run `talaria curator restore-drill --manifest …` for the last apply.',
};

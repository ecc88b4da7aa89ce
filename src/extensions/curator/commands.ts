// Owns the list of `talaria curator …` commands, in the order in which help shows them (curator notes 16). Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import { backfillCommand } from './commands/backfill-command.ts';
import { measureCommand } from './commands/evidence/measure-command.ts';
import { analyzeCommand, reportCommand } from './commands/evidence/report-commands.ts';
import { statusCommand } from './commands/evidence/status-command.ts';
import { proposeCommand } from './commands/proposal/propose-command.ts';
import { skillValidateCommand } from './commands/proposal/skill-validate-command.ts';
import { verifyCommand } from './commands/proposal/verify-command.ts';
import { decideCommand } from './commands/queue/decide-command.ts';
import { withForeignQueue } from './commands/queue/foreign-queue.ts';
import { listCandidatesCommand } from './commands/queue/list-candidates-command.ts';
import { mineCommand } from './commands/queue/mine-command.ts';
import { applyCommand } from './commands/run/apply-command.ts';
import { autoRunCommand } from './commands/run/auto-run-command.ts';
import { restoreDrillCommand } from './commands/run/restore-drill-command.ts';
import { rollbackCommand } from './commands/run/rollback-command.ts';
import { candidatesCommand } from './commands/search/candidates-command.ts';
import { setupSemanticCommand } from './commands/search/setup-semantic-command.ts';
import { bootstrapCommand } from './commands/timer/bootstrap-command.ts';
import { installCommand } from './commands/timer/install-command.ts';
import { uninstallCommand } from './commands/timer/uninstall-command.ts';
import type { CuratorGround } from './curator-ground.ts';

const BEFORE = [statusCommand, reportCommand, analyzeCommand, measureCommand, backfillCommand];
const PROPOSAL = [proposeCommand, verifyCommand, skillValidateCommand, candidatesCommand, setupSemanticCommand];
const RUN = [applyCommand, rollbackCommand, restoreDrillCommand, autoRunCommand];
const TIMER = [bootstrapCommand, installCommand, uninstallCommand];

export function curatorCommands(ground: CuratorGround): readonly AnyCommand[] {
  const queue = [
    ...[mineCommand(ground), listCandidatesCommand(ground)],
    ...[decideCommand(ground, 'accepted'), decideCommand(ground, 'rejected')],
  ];
  return [
    ...[...BEFORE, ...PROPOSAL].map((make) => make(ground)),
    ...queue.map((command) => withForeignQueue(ground, command)),
    ...[...RUN, ...TIMER].map((make) => make(ground)),
  ];
}

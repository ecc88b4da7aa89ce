// Owns the list of `talaria curator …` commands, in the order in which help shows them (curator notes 16). Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { candidatesCommand, queueCommands, setupSemanticCommand } from './commands/candidates.ts';
import { analyzeCommand, backfillCommand, measureCommand, reportCommand, statusCommand } from './commands/evidence.ts';
import { proposeCommand, skillValidateCommand, verifyCommand } from './commands/proposal.ts';
import { applyCommand, autoRunCommand, restoreDrillCommand, rollbackCommand } from './commands/run.ts';
import { bootstrapCommand, installCommand, uninstallCommand } from './commands/timer.ts';

const EVIDENCE = [statusCommand, reportCommand, analyzeCommand, measureCommand, backfillCommand];
const PROPOSAL = [proposeCommand, verifyCommand, skillValidateCommand, candidatesCommand, setupSemanticCommand];
const RUN = [applyCommand, rollbackCommand, restoreDrillCommand, autoRunCommand];
const TIMER = [bootstrapCommand, installCommand, uninstallCommand];

export function curatorCommands(ground: Ground): readonly AnyCommand[] {
  const made = (commands: readonly ((ground: Ground) => AnyCommand)[]) => commands.map((make) => make(ground));
  return [...made([...EVIDENCE, ...PROPOSAL]), ...queueCommands(ground), ...made([...RUN, ...TIMER])];
}

// Owns the list of `talaria rlm …` commands, in the order in which help shows them. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import { askCommands } from './commands/ask-command.ts';
import { benchCommands } from './commands/bench-command.ts';
import { demoCommands } from './commands/demo-command.ts';
import { memoryCommands } from './commands/memory-command.ts';
import { replayCommands } from './commands/replay-command.ts';
import { resumeCommands } from './commands/resume-command.ts';
import { runCommands } from './commands/run-command.ts';
import { runsCommands } from './commands/runs-commands.ts';
import { showCommands } from './commands/show-command.ts';
import type { RlmGround } from './rlm-ground.ts';

export function rlmCommands(ground: RlmGround): readonly AnyCommand[] {
  return [
    ...demoCommands(ground),
    ...askCommands(ground),
    ...runCommands(ground),
    ...runsCommands(ground),
    ...showCommands(ground),
    ...replayCommands(ground),
    ...resumeCommands(ground),
    ...memoryCommands(ground),
    ...benchCommands(ground),
  ];
}

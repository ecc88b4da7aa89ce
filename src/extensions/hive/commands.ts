// Owns the list of `talaria peers …` commands, in the order in which help shows them. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import { dismissCommand } from './commands/dismiss-command.ts';
import { doctorCommand } from './commands/doctor-command.ts';
import { infoCommand } from './commands/info-command.ts';
import { introduceCommand } from './commands/introduce-command.ts';
import { inviteCommand } from './commands/invite-command.ts';
import { listCommand } from './commands/list-command.ts';
import { loginCommand } from './commands/login-command.ts';
import { messagesCommand } from './commands/messages-command.ts';
import { sendCommand } from './commands/send-command.ts';
import type { HiveGround } from './hive-ground.ts';

export function hiveCommands(ground: HiveGround): readonly AnyCommand[] {
  return [
    listCommand(ground),
    messagesCommand(ground),
    sendCommand(ground),
    infoCommand(ground),
    introduceCommand(ground),
    dismissCommand(ground),
    inviteCommand(ground),
    loginCommand(ground),
    doctorCommand(ground),
  ];
}

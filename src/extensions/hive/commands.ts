// Owns the list of `talaria peers …` commands, in the order in which help shows them. Knows no command's work.

import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { dismissCommand, introduceCommand, inviteCommand, sendCommand } from './commands/acting-commands.ts';
import { loginCommand } from './commands/login-command.ts';
import { doctorCommand, infoCommand, listCommand, messagesCommand } from './commands/reading-commands.ts';

export function hiveCommands(ground: Ground): readonly AnyCommand[] {
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

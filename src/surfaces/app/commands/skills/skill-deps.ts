// Owns what the commands on skills share: finding one by name, saying that there is none. Knows no command.

import { refused } from '#core/agent/command-failure.ts';
import type { CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import type { Skill } from '#mind/skills/skill.ts';
import type { SkillRefusal } from '#mind/skills/skill-door.ts';
import type { App } from '../../app.ts';

export async function findSkill(app: App, name: string): Promise<Skill | undefined> {
  await app.skills.library.ready();
  return app.skills.library.get(name);
}

export function noSuchSkill(name: string): CommandOutput {
  return refused('no-such-skill', `There is no skill ${name}.`, '`talaria skills list` shows them.');
}

export function doorRefusal(refusal: SkillRefusal, fix = 'Nothing was changed.'): CommandOutput {
  return refused(refusal.reason, refusal.detail, fix);
}

/** True when the person said yes, here or with --yes; undefined when nobody can be asked. */
export async function isAgreed(question: string, yes: boolean, context: CommandContext): Promise<boolean | undefined> {
  if (yes) return true;
  const answer = await context.ask?.(`${question} (y/n)`);
  return answer === undefined ? undefined : /^\s*y(?:es)?\s*$/i.test(answer);
}

/** What to say when `isAgreed` did not give true. */
export function notAgreed(agreed: boolean | undefined, what: string): CommandOutput {
  return agreed === false
    ? refused('not-agreed', `${what} was not done: you said no.`)
    : refused('approval-required', `${what} needs your yes, and nobody can be asked here.`, 'Add --yes.');
}

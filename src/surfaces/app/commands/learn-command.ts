// Owns `learn`: a review of one session now, by hand. In the chat the session is the present one. Knows no review.
import { z } from 'zod';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { findSession } from '../find-session.ts';
import { refuseNewerHome } from '../home/newer-home.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function learnCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'learn',
    summary: 'Review a session now for facts and procedures worth keeping',
    surfaces: ['cli'],
    positional: ['hint...'],
    input: z.object({
      hint: z.array(z.string()).default([]).describe('What to look for, or a name for the skill'),
      session: z.string().default('last').describe('Session id, its beginning, or `last`'),
    }),
    examples: ['talaria learn', 'talaria learn how we cut a release --session last'],
    async *run({ hint, session }, { signal }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      const found = await findSession(app.store, session);
      if (!found.ok) {
        yield refused(found.reason, found.detail);
        return;
      }
      const learning = await app.learning();
      const learned = await learning.learnNow(found.value.id, hint.join(' '), signal);
      if (!learned.ok) {
        yield refused(learned.reason, learned.detail);
        return;
      }
      yield line(learned.value.line);
      for (const text of learning.announcements(found.value.id))
        yield line(text.replace(/\/undo\b/g, '`talaria undo`'));
      for (const offer of learning.offers()) yield line(`${offer.line} · talaria pending accept ${offer.id}`);
      yield { type: 'data', value: { ...learned.value } };
    },
  });
}

// Owns `peers invite`: first contact with somebody whom nobody introduced. Invariant: what the other is told is what was typed, no more.
import { z } from 'zod';
import { wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, defineCommand } from '#core/agent/command-spec.ts';
import type { HiveGround } from '../hive-ground.ts';
import { plainText } from '../peers/plain-text.ts';
import { readUser } from './find-server.ts';
import { shownLine, withPeers } from './with-peers.ts';

export function inviteCommand(ground: HiveGround): AnyCommand {
  return defineCommand({
    name: 'peers invite',
    summary: 'Make contact with an agent that nobody introduced',
    surfaces: ['cli', 'chat'],
    positional: ['id'],
    input: z.object({
      id: z.string('type an id, NAME@SERVER').describe('NAME@SERVER, or @NAME:SERVER'),
      context: z.string().default('').describe('What you keep about the other, for yourself and for introductions'),
      about: z.string().default('').describe('What the other is told about you'),
    }),
    examples: [
      'talaria peers invite hermes-of-bob@example.org --context "Bob runs enclaves" --about "Alice, knows people"',
    ],
    async *run({ id: typed, context: kept, about }, context) {
      const user = readUser(typed);
      if (!user.ok || user.value.server === undefined) {
        const fix = 'Type the whole id: NAME@SERVER.';
        yield wrongUse('peer-id-invalid', `${shownLine(typed, 100) || 'nothing'} is no id of a peer`, fix);
        return;
      }
      const id = `${user.value.name}@${user.value.server}`;
      yield* withPeers(ground, context, async function* ({ transport, signal }) {
        if (id === transport.selfId) {
          yield wrongUse('peer-is-self', `${id} is you`, 'Name another agent.');
          return;
        }
        await transport.contact({ id, context: plainText(kept).trim(), about: plainText(about).trim() }, signal);
        yield { type: 'line', text: `invited ${shownLine(id, 200)}; it becomes active when it has accepted` };
        if (about.trim() === '') yield { type: 'line', text: 'It was told nothing about you; --about "…" says it.' };
        yield { type: 'line', text: 'See whether it came: talaria peers list' };
        yield { type: 'data', value: { invited: true, id } };
      });
    },
  });
}

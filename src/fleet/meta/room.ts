// Owns Meta's front: the conversation over the whole clade, and the library of what outlives a golem. Two words of the command line are its: `clade`,
// `library`. It is no golem: it has no heartbeat, no key of its own, no Grimoire and no end. Invariant: nothing is opened before it is asked for.
import type { Room } from '#core/agent/room.ts';

export const room: Room = {
  name: 'clade',
  settings: async () => (await import('./meta-ground.ts')).cladeSettings.describe('The conversation over all golems.'),
  lends: ['clade', 'library'],
  opens: 'when-asked',
  commands: async (ground) => {
    const [{ cladeCommands }, { libraryCommands }] = await Promise.all([
      import('./commands.ts'),
      import('./library/commands.ts'),
    ]);
    return [...cladeCommands(ground), ...libraryCommands(ground)];
  },
  open: async (ground) => {
    const [{ openConversation }, { POLL_MS, pollClade, hearNominations }, { startLink }] = await Promise.all([
      import('./conversation.ts'),
      import('./listening.ts'),
      import('#fleet/styx/linking.ts'),
    ]);
    let linkError: string | undefined;
    const conversation = openConversation(ground, { linkError: () => linkError });
    const { meta } = conversation;
    let stop: (() => void) | undefined;
    let link: ReturnType<typeof startLink> | undefined;
    // Who looks on and stays hears of what comes, and carries what is said.
    const listen = () => {
      if (!ground.stays) return;
      link ??= startLink(ground, ({ error }) => {
        linkError = error;
      });
      if (meta.hasLog()) stop ??= hearNominations(meta, (work) => ground.background.hold('clade', work));
    };
    const look: typeof conversation.look = () => {
      listen();
      return conversation.look();
    };
    return {
      doors: {
        clade: { ...conversation, look },
        library: {
          through: async (...asked) => (await import('./library/loadout.ts')).kitThrough(ground, ...asked),
        },
      },
      jobs: [{ name: 'poll', everyMs: POLL_MS, run: async () => void (await pollClade(meta)) }],
      close: async () => {
        stop?.();
        await (await link)?.stop();
        await conversation.close();
      },
    };
  },
};

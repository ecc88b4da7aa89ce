// Owns the front of what is known of the owner (seed 001 chapter 16): its switch, when it is looked for and when it is said, and user.sqlite.
// Knows no row. Invariants: a plain start opens no file of it; nothing is said to guests or to programs, and nothing in the prefix.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { lazy } from '#base/lazy.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { OpenRoom, Room, RoomGround } from '#core/agent/room.ts';
import type { Desk } from './known.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    /** Opens user.sqlite. */
    readonly user: () => Promise<Desk>;
  }
}

const settings = z.object({
  enabled: z.boolean().default(true).describe('Learn what is known of you, and use it where it bears on a line.'),
});

const [FILE, HOUR_MS] = ['user.sqlite', 3_600_000];
/** Programs speak there. */
const DEAF: ReadonlySet<string> = new Set('extension golem subagent cron mcp review tool webhook'.split(' '));

async function openUser(ground: RoomGround): Promise<OpenRoom> {
  const { enabled: isOn } = (await ground.settings()).section('user', settings);
  const isThere = () => existsSync(join(ground.places.home, FILE));
  const desk = lazy(async (): Promise<Desk> => {
    const [{ userSchema }, state] = await Promise.all([import('./known.ts'), ground.door('state')]);
    const count = async () => (await import('./look.ts')).count(await desk());
    return { ground, state, database: ground.database(FILE, userSchema), isOn, deaf: DEAF, count };
  });
  const look = async () => {
    const spoken = await (await ground.door('sessions')).list({ spoken: true, limit: 2 });
    if (spoken.length > 1) await (await import('./look.ts')).look(await desk(), ground.background.signal);
  };
  const hooks: readonly Hooks[] = [
    {
      name: 'user',
      beforeTurn: async ({ source, text, origin }) =>
        origin === 'owner' && !DEAF.has(source) && isThere()
          ? (await import('./known.ts')).bearingOn(await desk(), text)
          : [],
    },
  ];
  if (isOn && ground.stays) ground.later('what is known of the owner', look);
  return {
    doors: { user: desk },
    ...(isOn ? { hooks, jobs: [{ name: 'look', everyMs: HOUR_MS, run: look }] } : {}),
    forget: async (what) => (isThere() ? (await import('./known.ts')).forget(await desk(), what) : []),
  };
}

export const room: Room = {
  name: 'user',
  settings: async () => settings.describe('What is known of you; see `talaria user show`.'),
  lends: ['user'],
  commands: async (ground) => (await import('./known.ts')).userCommands(ground),
  open: openUser,
};

// Owns opening state.db with the tables of every room, and what sessions add to an agent: the tool that finds what was said, and what keeps
// files before calls change them. Knows no surface. Invariant: a command that looks at sessions loads no more.
import type { OpenRoom, RoomGround } from '#core/agent/room.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import type { SummariseSession } from './session-search-tool.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from './sqlite-session-store.ts';

export function openRoom(ground: RoomGround): OpenRoom {
  const { clock, places, notice } = ground;
  const store = createSqliteSessionStore({ path: places.stateDatabase, clock, ...ground.opening });
  for (const { message } of store.notices) notice(message);
  return {
    doors: { sessions: store, state: store.database },
    rules: async () => (await import('./recall-rules.ts')).recallRules,
    forget: async (what) =>
      (await import('./forget-messages.ts')).forgetSessions({ database: store.database, clock, places }, what),
    seated: () => seated(ground, store),
    close: () => store.close(),
  };
}

async function seated(ground: RoomGround, store: SqliteSessionStore): Promise<OpenRoom> {
  const [{ FileCheckpoints }, { createSessionSearchTool }] = await Promise.all([
    import('./files/file-checkpoints.ts'),
    import('./session-search-tool.ts'),
  ]);
  const { clock, places, seat } = ground;
  const { database } = store;
  const userHome = realPath(places.userHome);
  const files = new FileCheckpoints({ database, folder: places.checkpoints, clock, userHome });
  const summarise: SummariseSession = async (...asked) => (await ground.door('recall'))(...asked);
  return { files, hooks: [files.hooks], tools: [createSessionSearchTool(store, seat.small ? { summarise } : {})] };
}

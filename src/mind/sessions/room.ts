// Owns the sessions' front: state.db with its store, the files that calls changed, the tool that finds what was said.
import type { Database } from '#base/database/connection.ts';
import type { Room } from '#core/agent/room.ts';
import { checkpointSchema } from './files/file-change-rows.ts';
import type { SummariseSession } from './session-search-tool.ts';
import type { SqliteSessionStore } from './sqlite-session-store.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    readonly sessions: SqliteSessionStore;
    /** state.db: sessions, uses and versions of skills, costs. */
    readonly state: Database;
    /** Words the summary of a found session; a room above lends it. */
    readonly recall: SummariseSession;
  }
}

export const room: Room = {
  name: 'sessions',
  lends: ['sessions', 'state'],
  tables: checkpointSchema,
  commands: async (ground) => (await import('./commands.ts')).sessionCommands(ground),
  doctor: async ({ places }, look) => (await import('./check-sessions.ts')).checkSessions(places.stateDatabase, look),
  open: async (ground) => (await import('./open-room.ts')).openRoom(ground),
};

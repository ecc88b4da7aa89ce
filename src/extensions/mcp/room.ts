// Owns the front of the MCP client: servers of others, whose tools a session may use. Invariant: opening it starts no server and loads no protocol.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lazy } from '#base/lazy.ts';
import type { Room } from '#core/agent/room.ts';
import type { McpHub } from './hub.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    /** The connections of this program to MCP servers. */
    readonly mcp: () => Promise<McpHub>;
  }
}

export const room: Room = {
  name: 'mcp',
  section: 'mcp_servers',
  settings: async () => (await import('./servers.ts')).serversSchema,
  lends: ['mcp'],
  commands: async (ground) => (await import('./commands.ts')).mcpCommands(ground),
  open: (ground) => {
    const hub = lazy(async () => new (await import('./hub.ts')).McpHub(ground));
    return {
      doors: { mcp: hub },
      sessionTools: async (place) => {
        const isSetUp = place.servers !== undefined || (await ground.settings()).has('mcp_servers');
        return isSetUp || existsSync(join(place.cwd, '.mcp.json')) ? (await hub()).sessionTools(place) : [];
      },
      close: () => hub.now()?.close(),
    };
  },
};

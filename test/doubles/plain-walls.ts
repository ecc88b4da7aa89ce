// Owns walls for tests that are not about walls: a state that is said, and commands that run as they are. Builds nothing.
import type { WallState, Walls } from '#core/tools/walls/walls.ts';

export function createPlainWalls(state: WallState = { kind: 'machine', detail: 'a test' }): Walls {
  return {
    state: () => state,
    enclose: async (request) => ({ request, settle: async () => ({ openings: [], planted: [], notes: [] }) }),
    endSession: async () => {},
    close: async () => {},
  };
}

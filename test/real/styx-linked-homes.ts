/** Homes that are linked in this process over a real server. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { runLink } from '#fleet/styx/link.ts';
import type { LinkState } from '#fleet/styx/link-state.ts';
import { cladeOf } from '#fleet/styx/owner-key.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { hasty } from '../ground.ts';
import { TOKEN } from './nats-server.ts';

export const CLADE = cladeOf('a founder');
const noDoor = () => Promise.reject(new Error('no door'));

/** In this process; a second of waiting takes a tenth of one. */
export function linked(
  t: TestContext,
  path: string,
  given: { readonly url: string; readonly token?: string; readonly clade?: string },
) {
  const log = openHomeLog({ path });
  const states: LinkState[] = [];
  const end = new AbortController();
  const about = { tokenFrom: 'CLADE_TOKEN', token: TOKEN, clade: CLADE, ...given };
  const ground = { clock: hasty(10), door: noDoor };
  const running = runLink({ ...about, log, ground, onState: (state) => states.push(state) }, end.signal);
  t.after(async () => {
    end.abort();
    await running;
    log.close();
  });
  return { log, states };
}

export function homePaths(t: TestContext): readonly [string, string] {
  return [join(createTempHome(t).path, 'styx.db'), join(createTempHome(t).path, 'styx.db')];
}

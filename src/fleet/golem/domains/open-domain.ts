// Owns which domain a golem looks at, opened from its golem.toml. Knows each by its maker alone.
import { statSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { known } from '#base/errors.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Mind, OpenedHome } from '#core/agent/room.ts';
import type { OpenGolem } from '../golem-home.ts';
import { openCodingDomain } from './coding.ts';
import type { DomainPlugin } from './domain.ts';
import { createEnclosedRunner } from './enclosed.ts';
import { createSimDomain } from './sim.ts';
import { SimWorld } from './sim-world.ts';
import { createWatchDomain } from './watch.ts';
import type { CheckoutRefusal } from './worktree.ts';

export type DomainRefusal = CheckoutRefusal | 'no-test-command' | 'no-folder' | 'no-walls';

export async function openDomain(
  { settings, places, rows, identity }: OpenGolem,
  ground: {
    readonly opened: OpenedHome;
    readonly agent: () => Promise<Mind>;
    readonly clock: Clock;
    readonly hasModel: boolean;
    /** For a mind alone: nothing is run, so no walls are asked for. */
    readonly looks?: boolean;
  },
): Promise<Result<DomainPlugin, DomainRefusal>> {
  const { domain, dir: typed } = settings.golem;
  if (domain === 'sim') {
    const { seed, stream } = settings.sim;
    return ok(createSimDomain(SimWorld.of(seed), stream, rows.state()?.tick ?? 0));
  }
  const dir = typed && typedPath(typed, { cwd: places.root, userHome: ground.opened.ground.places.userHome });
  const why = dir === undefined ? 'is not set' : `${dir} is no folder`;
  if (dir === undefined || !known(() => statSync(dir).isDirectory()))
    return refuse('no-folder', `${places.toml}: golem.dir ${why}.`);
  const { agent, opened, clock, hasModel, looks = false } = ground;
  const walls = async () => (await agent()).walls();
  const state = looks ? undefined : (await walls()).state();
  const fix = state?.fix ? ` ${state.fix}` : '';
  if (state?.kind === 'none') return refuse('no-walls', `Nothing keeps its commands in here (${state.detail}).${fix}`);
  const env = await opened.ground.commandVariables();
  const { worktree, work } = places;
  const [scratch, cwd] = domain === 'watch' ? [work, dir] : [worktree, worktree];
  const { run } = createEnclosedRunner({ walls, work: scratch, cwd, env, clock });
  if (domain === 'watch')
    return ok(createWatchDomain({ checks: settings.check, remedies: settings.remedy, run, clock }));
  const about = { repository: dir, name: identity.name, worktree, run, clock, model: hasModel, env };
  return openCodingDomain({ ...settings.coding, ...about });
}

/** For a golem whose domain cannot be opened any more: nothing is seen and nothing may be done. */
export const RESTING: DomainPlugin = {
  ...{ id: 'watch', archetypes: [], categories: ['watch'], tools: [] },
  observe: async () => ({ text: '', tag: 'unseen', signals: [] }),
  candidates: () => [],
  act: async () => ({ status: 'blocked', blockReason: 'at-rest', text: '', hasChanged: false, isOver: true, ms: 0 }),
  verify: async () => ({ verified: false, success: false, summary: 'its domain rests', source: 'nobody' }),
  guard: () => 'deny',
  changed: () => 0,
  close: async () => undefined,
};

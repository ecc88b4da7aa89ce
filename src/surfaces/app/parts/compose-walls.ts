// Owns which walls commands of this home run in, by its configuration. Knows no tool.
// Invariant: nothing is asked of the machine before the first look at their state.
import type { Clock } from '#base/clock.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { createWalls } from '#core/tools/walls/create-walls.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import type { Environment } from '../environment.ts';
import type { Config } from '../home/config-schema.ts';
import type { Home } from '../home/home.ts';

export interface WallGround {
  readonly home: Home;
  readonly environment: Environment;
  readonly clock: Clock;
}

export function composeWalls({ sandbox }: Pick<Config, 'sandbox'>, { home, environment, clock }: WallGround): Walls {
  const { mode, paths, hosts } = sandbox;
  const { variables: env, userHome, cwd } = environment;
  const shared = paths.filter((path) => !path.endsWith(':ro')).map((path) => typedPath(path, { cwd: '/', userHome }));
  const programs = { written: [cwd, ...shared] };
  return createWalls({ mode, paths, hosts, env, userHome, dataHome: home.root, clock, programs });
}

// Owns where a timer of the machine lies, by scheduler (curator notes 15). Reads only whether a file is there.
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { findOnPath } from '#base/paths/find-on-path.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { LAUNCHD_LABEL, SYSTEMD_SERVICE, SYSTEMD_TIMER } from './units/timer-spec.ts';

export type PlacesGround = Pick<CuratorGround, 'places' | 'variables'>;

/** Absolute paths. */
export interface TimerPlaces {
  readonly service: string;
  readonly timer: string;
  /** What `systemctl enable` makes. */
  readonly wanted: string;
  readonly plist: string;
}

export function timerPlaces({ places, variables }: PlacesGround): TimerPlaces {
  const named = variables.XDG_CONFIG_HOME ?? '';
  const units = join(isAbsolute(named) ? named : join(places.userHome, '.config'), 'systemd', 'user');
  return {
    service: join(units, SYSTEMD_SERVICE),
    timer: join(units, SYSTEMD_TIMER),
    wanted: join(units, 'timers.target.wants', SYSTEMD_TIMER),
    plist: join(places.userHome, 'Library', 'LaunchAgents', `${LAUNCHD_LABEL}.plist`),
  };
}

/** Of the files of a timer those that are there, by their names in a manifest (curator notes 11.2). */
export function installedTimer(ground: PlacesGround): {
  readonly service_path?: string;
  readonly timer_path?: string;
  readonly plist_path?: string;
} {
  const { service, timer, plist } = timerPlaces(ground);
  return {
    ...(existsSync(service) ? { service_path: service } : {}),
    ...(existsSync(timer) ? { timer_path: timer } : {}),
    ...(existsSync(plist) ? { plist_path: plist } : {}),
  };
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Absolute path, or undefined. */
export function findProgram(name: string, { PATH }: Variables): string | undefined {
  return isAbsolute(name) ? name : findOnPath(name, PATH);
}

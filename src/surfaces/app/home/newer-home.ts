// Owns the refusals to write into a home that can only be read, or that a newer Talaria has written: its files may mean what this one cannot know.
// Knows no command. Invariant: reading such a home always works; whatever would write into it stops before it wrote anything.
import { TalariaError } from '#base/errors.ts';
import type { App } from '../app.ts';
import type { LoadedConfig } from './config.ts';
import { type Home, isReadOnlyHome } from './home.ts';

/** Throws TalariaError `home-newer` when the configuration or the database of this home is of a newer version. */
export function refuseNewerHome({ loaded, store, home }: Pick<App, 'loaded' | 'store' | 'home'>): void {
  if (store.database.readOnly) throw isReadOnlyHome(home) ? readOnlyHome(home) : newerHome();
  refuseNewerConfig(loaded);
}

/** The same, where no agent is composed. */
export function refuseNewerConfig({ readOnly }: LoadedConfig): void {
  if (readOnly !== undefined) throw newerHome();
}

function readOnlyHome({ root }: Home): TalariaError {
  return new TalariaError(`${root} can only be read`, {
    code: 'home-read-only',
    fix: 'Sessions, memory and skills can be looked at. Make the folder writable, or name another home with TALARIA_HOME.',
  });
}

function newerHome(): TalariaError {
  return new TalariaError('this home was written by a newer Talaria, and this one only reads it', {
    code: 'home-newer',
    fix: 'Update Talaria, or name another home with TALARIA_HOME.',
  });
}

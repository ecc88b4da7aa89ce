// Owns which file `--queue-db` means (curator notes 7): the home's evidence file when it is absent. Pure.

import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { QueueFile } from '../../queue/open-queue.ts';

export const queueFlag = z
  .string()
  .min(1)
  .optional()
  .describe("Database of the queue; the home's evidence file when absent");

/** The last line of every listing. */
export const NEXT =
  'Decide with `talaria curator candidates-accept ID` or `candidates-reject ID`; how an id begins is enough.';

export function queuePlace({ places, clock }: CuratorGround, typed: string | undefined, cwd: string): QueueFile {
  const path = typed === undefined ? places.evidenceDatabase : typedPath(typed, { cwd, userHome: places.userHome });
  return { path, isOwn: path === places.evidenceDatabase, clock };
}

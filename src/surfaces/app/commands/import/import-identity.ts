// Owns bringing SOUL.md. Invariant: an identity that the owner has here is never replaced.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorText } from '#base/errors.ts';
import type { ImportPlace } from './import-place.ts';

export function importIdentity({ from, home, report, dryRun }: ImportPlace): void {
  const path = join(from, 'SOUL.md');
  if (!existsSync(path)) return;
  try {
    const text = readFileSync(path);
    if (!existsSync(home.soul)) {
      if (!dryRun) atomicWrite(home.soul, text);
      report.took('identity', 'SOUL.md');
    } else if (readFileSync(home.soul).equals(text)) report.same('identity', 'SOUL.md');
    else report.left('identity', 'SOUL.md', `there is another one at ${home.soul}, which stays`);
  } catch (error) {
    report.broken('identity', 'SOUL.md', errorText(error));
  }
}

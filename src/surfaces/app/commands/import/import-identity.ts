// Owns bringing SOUL.md. Invariants: an identity that the owner has here is never replaced; none comes that he was not shown.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorText } from '#base/errors.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { type ImportPlace, UNSEEN } from './import-place.ts';

const MOST_BYTES = 4_000_000;

export async function importIdentity({ from, home, report, dryRun, agrees }: ImportPlace): Promise<void> {
  const path = join(from, 'SOUL.md');
  if (!existsSync(path)) return;
  try {
    const text = readRegular(path, MOST_BYTES);
    if (!existsSync(home.soul)) {
      if (!dryRun && !(await agrees('SOUL.md', text.toString('utf8').trim().split('\n')))) {
        report.left('identity', 'SOUL.md', UNSEEN);
        return;
      }
      if (!dryRun) atomicWrite(home.soul, text);
      report.took('identity', 'SOUL.md');
    } else if (readFileSync(home.soul).equals(text)) report.same('identity', 'SOUL.md');
    else report.left('identity', 'SOUL.md', `there is another one at ${home.soul}, which stays`);
  } catch (error) {
    report.broken('identity', 'SOUL.md', errorText(error));
  }
}

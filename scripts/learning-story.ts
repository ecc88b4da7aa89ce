/**
 * Writes docs/learning.md: ten sessions through the composed agent, `node scripts/learning-story.ts`. A test compares the page. What stands
 * there of golems is measured by `talaria golem trial` and is kept.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GOLEMS, readStory, renderStory, tellStory } from '../test/scenario/learning-story.ts';

const home = mkdtempSync(join(tmpdir(), 'talaria-story-'));
try {
  const story = readStory();
  const page = join('docs', 'learning.md');
  const [, golems = ''] = readFileSync(page, 'utf8').split(GOLEMS);
  writeFileSync(page, `${renderStory(story, await tellStory(story, home))}${GOLEMS}${golems}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}

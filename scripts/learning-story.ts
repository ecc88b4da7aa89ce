/** Writes docs/learning.md: ten sessions through the composed agent, `node scripts/learning-story.ts`. A test compares the page. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStory, renderStory, tellStory } from '../test/scenario/learning-story.ts';

const home = mkdtempSync(join(tmpdir(), 'talaria-story-'));
try {
  const story = readStory();
  writeFileSync(join('docs', 'learning.md'), renderStory(story, await tellStory(story, home)));
} finally {
  rmSync(home, { recursive: true, force: true });
}

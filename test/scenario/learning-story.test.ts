// Ten sessions end with what a reader of the transcripts would have kept, and docs/learning.md tells them as they ran.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe } from 'node:test';
import { createTempHome } from '#testing/temp-home.ts';
import { slow } from '../slow.ts';
import { GOLEMS, readStory, renderStory, tellStory } from './learning-story.ts';

describe('ten sessions', () => {
  slow(
    'end with the memories and skills of a careful reader; nothing else was kept, even for a moment',
    async (context) => {
      const story = readStory();
      const { told, ending } = await tellStory(story, createTempHome(context).path);
      assert.deepEqual([...ending.user].sort(), [...story.endMemories.user].sort());
      assert.deepEqual([...ending.memory].sort(), [...story.endMemories.memory].sort());
      assert.deepEqual([...ending.skills].sort(), [...story.endSkills].sort());
      for (const { proposed, isKept } of told)
        assert.equal(isKept, proposed.shouldKeep, proposed.content ?? proposed.why);
      const [page] = readFileSync(new URL('../../docs/learning.md', import.meta.url), 'utf8').split(GOLEMS);
      assert.equal(page, renderStory(story, { told, ending }), 'node scripts/learning-story.ts writes the page anew');
    },
  );
});

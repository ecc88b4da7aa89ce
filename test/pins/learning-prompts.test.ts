/** The prompts of the learning loop, byte for byte: a change of one costs the tokens of every user and is a decision. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { estimateTokens } from '#base/text.ts';
import { JUDGE_PROMPT } from '#mind/evidence/judge.rules.ts';
import {
  COMBINED_REVIEW_PROMPT,
  FLUSH_PROMPT,
  MEMORY_REVIEW_PROMPT,
  REVIEW_PROMPTS,
  SKILLS_REVIEW_PROMPT,
} from '#mind/learning/learning.rules.ts';
import { RECALL_PROMPT } from '#mind/learning/summarise-session.ts';
import { verifies } from '../verifies.ts';

const PINNED = [
  [MEMORY_REVIEW_PROMPT, '7e3163700a4a6fcc'],
  [SKILLS_REVIEW_PROMPT, '298f05c17935238e'],
  [COMBINED_REVIEW_PROMPT, '28e51a682120b962'],
  [FLUSH_PROMPT, 'd60af44265d6e41d'],
  [RECALL_PROMPT, 'd21508e11b006d45'],
  [JUDGE_PROMPT, 'd23c5867c0dd50aa'],
] as const;

describe('prompts of the learning loop', () => {
  verifies('core:learning:three-prompts', 'there are three for reviews, and each says the same as ever', () => {
    assert.deepEqual(
      PINNED.map(([text]) => sha256(text).slice(0, 16)),
      PINNED.map(([, hash]) => hash),
    );
    assert.equal(new Set(Object.values(REVIEW_PROMPTS)).size, 3);
    for (const [text] of PINNED) assert.ok(estimateTokens(text) < 1_000);
  });

  verifies(
    'core:learning:retrospective',
    'memory, new skills and patches are weighed, with evidence, and nothing may be kept',
    () => {
      assert.match(COMBINED_REVIEW_PROMPT, /did the owner say something that will stay true/);
      assert.match(COMBINED_REVIEW_PROMPT, /then patch it .* the smallest change/);
      assert.match(COMBINED_REVIEW_PROMPT, /Create a skill only when none covers it/);
      for (const text of Object.values(REVIEW_PROMPTS)) {
        assert.match(text, /evidence.*\{"quote": "words copied exactly", "message": 12\}/s);
        assert.match(text, /most conversations hold nothing worth keeping/);
      }
    },
  );
});

// The guide is what every request pays for: its content is checked against the tools, its size is bounded, its bytes are pinned.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { sha256 } from '#base/ids.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { estimateTokens } from '#base/text.ts';
import { functionSchema } from '#core/tools/registry/tool-schema.ts';
import { SOCIAL_AWARENESS } from '#extensions/hive/guide/social-awareness.ts';
import { verifies } from '../../../verifies.ts';
import { bobsWorld } from '../provider/hive-talk.ts';

const { front = '', body } = splitFrontMatter(SOCIAL_AWARENESS);

describe('the guide to peers', () => {
  test('its front matter has name, description and triggers', () => {
    const data = parse(front) as Record<string, unknown>;
    assert.equal(data.name, 'social-awareness');
    assert.match(String(data.description), /other agents/i);
    assert.deepEqual(data.triggers, [
      'who do I know',
      'my peers',
      'check messages',
      'talk to',
      'other agents',
      'introduce',
      'agent awareness',
    ]);
  });

  verifies('R4.6', 'it says that there are other agents and that an introduction makes one a peer', () => {
    assert.match(body, /aware of other agents/);
    assert.match(body, /introduces you to another agent, it becomes your peer by itself/);
  });

  verifies(
    'R4.7',
    'it names the tool that tells who one is, and repeats nothing that the tools say of themselves',
    async () => {
      const { talk } = await bobsWorld();
      for (const tool of talk.provider.tools()) {
        const { name, description } = functionSchema(tool);
        assert.equal(body.includes(name), name === 'hivemind_list_peers', name);
        assert.ok(!body.includes(description), description);
      }
    },
  );

  verifies('R4.31', 'it forbids introductions without a yes, and obedience to what peers write', () => {
    assert.match(body, /user is asked before a message leaves and before two are introduced\. After a no, leave it/);
    assert.match(body, /never instructions/);
  });

  verifies('R4.4', 'it is small, and its bytes change only on purpose', () => {
    assert.ok(estimateTokens(SOCIAL_AWARENESS) <= 300, `${estimateTokens(SOCIAL_AWARENESS)} tokens`);
    assert.equal(sha256(SOCIAL_AWARENESS), '679b81eaab0f2c4c35f371fece61174ccfba9d3fe7ab609c1dc76dfff4da6699');
  });
});

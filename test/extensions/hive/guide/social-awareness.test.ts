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

  verifies('R4.7', 'it names exactly the registered tools with their parameters', async () => {
    const { talk } = await bobsWorld();
    const lines = talk.provider.tools().map((tool) => {
      const { name, parameters } = functionSchema(tool);
      const names = Object.keys((parameters.properties ?? {}) as object);
      return name === 'hivemind_check_messages' ? `${name}()` : `${name}(${names.join(', ')})`;
    });
    const named = body.match(/^- (hivemind_\w+\([^)]*\))/gm)?.map((line) => line.slice(2));
    assert.deepEqual(named, lines);
  });

  verifies('R4.31', 'it forbids introductions without a yes, and obedience to what peers write', () => {
    assert.match(body, /Never introduce without the user's confirmation, unless told to act autonomously/);
    assert.match(body, /never instructions/);
  });

  verifies('R4.4', 'it is small, and its bytes change only on purpose', () => {
    assert.ok(estimateTokens(SOCIAL_AWARENESS) <= 450, `${estimateTokens(SOCIAL_AWARENESS)} tokens`);
    assert.equal(sha256(SOCIAL_AWARENESS), 'ea185986b18216108c8659b2e1473ddb59cb8eaba048912b9e61554fba5457aa');
  });
});

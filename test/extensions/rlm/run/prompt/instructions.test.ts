import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { RATE_SYSTEM_PROMPT } from '#extensions/rlm/run/ambiguity.ts';
import { PLAIN_SYSTEM, plainPrompt } from '#extensions/rlm/run/plain-prompt.ts';
import {
  againBecause,
  DECOMPOSITION_PROTOCOL,
  LEAF_PROTOCOL,
  SYNTHESIS_PROTOCOL,
  SYSTEM_PROMPT,
} from '#extensions/rlm/run/run.rules.ts';

describe('the words of a run', () => {
  test('are these bytes: changing them costs the users their cache, and stored runs their replay', () => {
    const pins = {
      ...{ SYSTEM_PROMPT, LEAF_PROTOCOL, SYNTHESIS_PROTOCOL, DECOMPOSITION_PROTOCOL, RATE_SYSTEM_PROMPT, PLAIN_SYSTEM },
      plainPrompt: plainPrompt('Q?', ['A.', 'B.']),
    };
    assert.deepEqual(
      Object.fromEntries(Object.entries(pins).map(([name, text]) => [name, sha256(text).slice(0, 16)])),
      {
        SYSTEM_PROMPT: 'e77f31552873f200',
        LEAF_PROTOCOL: 'b30680e031b8fadd',
        SYNTHESIS_PROTOCOL: 'b048b13d171945e6',
        DECOMPOSITION_PROTOCOL: '484c7d1b683a829d',
        RATE_SYSTEM_PROMPT: 'aa8dd0853902057b',
        PLAIN_SYSTEM: '2630edc851b654b4',
        plainPrompt: 'fdd3809bed3cf9da',
      },
    );
  });

  test('name few problems of the reply before, each cut', () => {
    const text = againBecause(Array.from({ length: 50 }, (_, at) => `${at} ${'x'.repeat(1_000)}`));
    assert.ok(text.length < 2_000);
    assert.match(text, /^Your last reply was refused:\n- 0 x/);
  });
});

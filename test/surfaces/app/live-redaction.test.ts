import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setEnvValue } from '#surfaces/app/home/env-file.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { createLiveRedaction } from '#surfaces/app/parts/live-redaction.ts';
import { createTempHome } from '#testing/temp-home.ts';

describe('live redaction', () => {
  test('a key that is added or replaced later counts at once, and the old one is not forgotten', async (t) => {
    const home = homeAt(createTempHome(t).path);
    const variables = { OPENAI_API_KEY: 'from-the-environment' };
    const redact = createLiveRedaction(home, { variables, userHome: '/home/u', cwd: '/' });
    assert.equal(redact('from-the-environment first-value second-value'), '[redacted] first-value second-value');
    await setEnvValue(home.env, 'OPENAI_API_KEY', 'first-value');
    assert.equal(redact('from-the-environment first-value second-value'), '[redacted] [redacted] second-value');
    await setEnvValue(home.env, 'OPENAI_API_KEY', 'second-value');
    assert.equal(redact('from-the-environment first-value second-value'), '[redacted] [redacted] [redacted]');
  });
});

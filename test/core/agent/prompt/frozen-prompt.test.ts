/** The frozen prompt: order, normalisation, small windows, and bytes that only change on purpose. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { estimateTokens } from '#base/text.ts';
import {
  buildFrozenPrompt,
  findProjectFile,
  PROJECT_FILE_LIMIT,
  type PromptSources,
} from '#core/agent/frozen-prompt.ts';
import { GUIDANCE, IDENTITY } from '#core/agent/prompts.rules.ts';
import { verifies } from '../../../verifies.ts';

const sources: PromptSources = {
  environment: 'Folder /work, linux, session of 2026-01-15.',
  project: { path: 'AGENTS.md', text: 'Use tabs.' },
  skills: '[PROCEDURAL MEMORY]\n- git-style: how we commit',
  memory: 'MEMORY\nthe build runs on arm64',
};

const tool = {
  name: 'read_file',
  description: 'Read a file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Where the file is, relative or absolute.' } },
  },
};

describe('frozen prompt', () => {
  verifies(
    [
      'core:prompt:section-order',
      'core:prompt:tool-guidance',
      'core:prompt:memory-guidance',
      'core:prompt:skills-guidance',
    ],
    'stable parts come before less stable ones',
    () => {
      const { system } = buildFrozenPrompt(sources, [tool], 128_000);
      const places = [
        'You are Talaria',
        '## How to work',
        '## Memory',
        '## Skills',
        'Folder /work',
        'Use tabs.',
        '[PROCEDURAL MEMORY]',
        'MEMORY\n',
      ].map((text) => system.indexOf(text));
      assert.ok(
        places.every((place) => place >= 0),
        places.join(' '),
      );
      assert.deepEqual(
        [...places].sort((a, b) => a - b),
        places,
      );
    },
  );

  verifies(['core:prompt:bytes-pinned'], 'the fixed words are pinned: a change costs every user the cache', () => {
    assert.equal(sha256(IDENTITY), '55e15bc2aaba7f8895ab13f7d7ac9f896bfdda5a4b9632254fb47c3c51799866');
    assert.equal(sha256(GUIDANCE), 'd0dc5935555bba7be0848a7be272282f3beef697732877bfb0e586de57ded309');
  });

  verifies(
    ['core:cache:normalised-whitespace'],
    'line ends, trailing blanks and Unicode forms do not change the bytes',
    () => {
      const messy = { ...sources, memory: 'MEMORY\r\nthe build runs on arm64  \n\n\n\n' };
      assert.deepEqual(buildFrozenPrompt(messy, [tool], 128_000), buildFrozenPrompt(sources, [tool], 128_000));
      const composed = buildFrozenPrompt({ ...sources, memory: 'caf\u00e9' }, [], 128_000);
      assert.deepEqual(buildFrozenPrompt({ ...sources, memory: 'cafe\u0301' }, [], 128_000), composed);
    },
  );

  verifies(['core:prompt:soul-overrides-identity'], 'SOUL.md replaces the built-in identity', () => {
    const { system } = buildFrozenPrompt({ ...sources, identity: 'You are Iris.' }, [], 128_000);
    assert.ok(system.startsWith('You are Iris.'));
    assert.ok(!system.includes('You are Talaria'));
  });

  verifies(
    ['core:prompt:small-window'],
    'under 32K the prompt takes at most 40 % of the window: skills, project file, then schemas shrink',
    () => {
      const large: PromptSources = {
        ...sources,
        project: { path: 'AGENTS.md', text: 'rule\n'.repeat(3_000) },
        skills: '- skill: does things\n'.repeat(800),
      };
      for (const window of [8_192, 16_384, 24_000]) {
        const prompt = buildFrozenPrompt(large, [tool], window);
        const tokens = estimateTokens(prompt.system) + estimateTokens(JSON.stringify(prompt.tools));
        assert.ok(tokens <= window * 0.4, `${tokens} tokens of a window of ${window}`);
      }
      assert.ok(buildFrozenPrompt(large, [tool], 128_000).system.includes('- skill: does things\n- skill'));
    },
  );

  verifies(
    ['core:prompt:project-file'],
    'the first of the three names wins, up to the root of the repository; head and tail are kept',
    () => {
      const root = mkdtempSync(join(tmpdir(), 'talaria-project-'));
      const inner = join(root, 'packages', 'core');
      mkdirSync(inner, { recursive: true });
      mkdirSync(join(root, '.git'));
      assert.equal(findProjectFile(inner), undefined);
      writeFileSync(join(root, 'CLAUDE.md'), 'claude');
      assert.equal(findProjectFile(inner)?.text, 'claude');
      writeFileSync(join(root, 'AGENTS.md'), 'agents');
      assert.equal(findProjectFile(inner)?.text, 'agents');
      writeFileSync(join(root, '.talaria.md'), `first ${'x'.repeat(60_000)} last`);
      const file = findProjectFile(inner);
      assert.ok(file);
      const { system } = buildFrozenPrompt({ ...sources, project: file }, [], 1_000_000);
      assert.match(system, /first x+\n\[… \d+ characters left out …\]\nx+ last/);
      assert.ok(system.length < PROJECT_FILE_LIMIT + 3_000);
      writeFileSync(join(inner, 'AGENTS.md'), 'a\0b');
      assert.match(findProjectFile(inner)?.text ?? '', /^first/);
    },
  );
});

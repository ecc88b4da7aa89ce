import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { classifySource, type SourceQuestion } from '#extensions/curator/sources/classify-source.ts';
import { verifies } from '../../../verifies.ts';

const MINE: SourceQuestion = {
  path: '/h/skills/data/csv/SKILL.md',
  name: 'csv',
  home: '/h',
  bundled: 'git-flow:abc\n\n pdf : def\n',
  hub: { version: 1, installed: { 'from-hub': {} } },
  externalDirs: ['/ext/skills', 'skills', 'more'],
  createdBy: 'agent',
};

const upstream = { compat: 'upstream' } as const;

describe('the source of a skill', () => {
  verifies('curator:source:order', 'is decided in a fixed order', () => {
    const cases: readonly (readonly [Partial<SourceQuestion>, string])[] = [
      [{}, 'local-agent-created'],
      [{ path: '/ext/skills/git-flow/SKILL.md', name: 'git-flow' }, 'external-dir'],
      [{ path: '/h/more/x/SKILL.md' }, 'external-dir'],
      [{ externalDirs: '/h/skills/data' }, 'external-dir'],
      [{ name: 'git-flow' }, 'bundled'],
      [{ name: 'pdf', path: '/elsewhere/pdf/SKILL.md' }, 'bundled'],
      [{ name: 'from-hub' }, 'hub-installed'],
      [{ path: '/elsewhere/csv/SKILL.md' }, 'unknown'],
      [{ path: '/h/skills/../secrets/SKILL.md' }, 'unknown'],
      [{ path: '/h/skills-more/csv/SKILL.md' }, 'unknown'],
    ];
    for (const [change, expected] of cases) {
      assert.equal(classifySource({ ...MINE, ...change }), expected, JSON.stringify(change));
      assert.equal(classifySource({ ...MINE, ...change }, upstream), expected, JSON.stringify(change));
    }
  });

  verifies('curator:source:order', 'of ours needs the record of the agent, the original only the path', () => {
    for (const createdBy of ['owner', 'import', null]) {
      assert.equal(classifySource({ ...MINE, createdBy }), 'unknown');
      assert.equal(classifySource({ ...MINE, createdBy }, upstream), 'local-agent-created');
    }
    const { createdBy: _none, ...bare } = MINE;
    assert.equal(classifySource(bare), 'unknown');
    const renamed = { ...MINE, path: '/h/skills/git-flow/SKILL.md', name: 'my-flow' };
    assert.equal(classifySource(renamed), 'bundled');
    assert.equal(classifySource(renamed, upstream), 'local-agent-created');
  });

  verifies(
    'curator:source:corrupt-manifest',
    'is unknown when a manifest cannot be read; the original takes it for empty',
    () => {
      const broken: readonly Partial<SourceQuestion>[] = [
        { bundled: null },
        { bundled: '\0\0' },
        { hub: null },
        { hub: '{"installed": {' },
        { hub: { installed: [] } },
        { externalDirs: null },
        { externalDirs: { a: 1 } },
      ];
      for (const change of broken) {
        assert.equal(classifySource({ ...MINE, ...change }), 'unknown', JSON.stringify(change));
        assert.equal(classifySource({ ...MINE, ...change }, upstream), 'local-agent-created', JSON.stringify(change));
      }
      const { bundled: _b, hub: _h, externalDirs: _e, ...none } = MINE;
      assert.equal(classifySource(none), 'local-agent-created');
      assert.equal(classifySource({ ...MINE, bundled: [], hub: '{}' }), 'local-agent-created');
    },
  );
});

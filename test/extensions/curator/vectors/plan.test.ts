/** The original's plan (notes 8), in the corners: what takes a slot, which reason comes first, what an entry holds. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { planAutoRun } from '#extensions/curator/run/plan-auto-run.ts';
import type { JsonObject } from '#public/talaria.ts';
import { verifies } from '../../../verifies.ts';
import { runRequest } from '../run-request.ts';

const upstream = { compat: 'upstream' } as const;
const WRITE = { apply_low_risk: true, approve_auto_apply: true };

type Skills = Parameters<typeof runRequest>[0];

function reasons(skills: Skills, flags: JsonObject): readonly string[] {
  const { candidates } = planAutoRun(runRequest(skills, flags), upstream);
  return candidates.map((one) => `${one.skill_name}: ${one.status} ${one.reason}`);
}

describe("the original's plan", () => {
  verifies('curator:compat:upstream', 'slices before it looks: what is skipped has used its slot', () => {
    const skills: Skills = [
      ['gone', 9, 'missing'],
      ['pinned', 8, undefined, 'pinned: yes\n'],
      ['hub', 7, 'hub-installed'],
      ['mine', 6],
    ];
    const expected = ['gone: skipped skill-file-not-found', 'pinned: skipped pinned-skill'];
    assert.deepEqual(reasons(skills, {}), [...expected, 'hub: planned null']);
    assert.deepEqual(reasons(skills, WRITE), [...expected, 'hub: skipped source-not-agent-created']);
    assert.deepEqual(reasons(skills, { max_skills: '4' }).at(-1), 'mine: planned null');
  });

  verifies(['curator:auto:source-gate', 'curator:auto:allow-and-block'], 'names the first reason that holds', () => {
    const flags = {
      ...WRITE,
      max_skills: 25,
      block_auto_apply_skill: ['*a*'],
      allow_auto_apply_skill: ['codex', 'Gsd-?'],
    };
    const skills: Skills = [
      ['a', 9, 'bundled'],
      ['Ma', 8],
      ['mcp-x', 7],
      ['codex', 6],
      ['gsd-1', 5],
      ['a2', 4, undefined, 'pin: 1\n'],
    ];
    assert.deepEqual(reasons(skills, flags), [
      'a: skipped source-not-agent-created',
      'Ma: skipped auto-apply-blocklisted',
      'mcp-x: skipped auto-apply-not-allowlisted',
      'codex: planned null',
      'gsd-1: planned null',
      'a2: skipped pinned-skill',
    ]);
    assert.deepEqual(
      reasons(
        [
          ['MCP-x', 9],
          ['hermes', 8],
          ['opencode', 7],
        ],
        WRITE,
      ),
      [
        'MCP-x: skipped core-skill-auto-apply-protected',
        'hermes: planned null',
        'opencode: skipped core-skill-auto-apply-protected',
      ],
    );
    assert.deepEqual(reasons([['mcp-x', 9]], { ...WRITE, no_protect_core_skills: true }), ['mcp-x: planned null']);
    for (const half of [{ apply_low_risk: true }, { approve_auto_apply: true }])
      assert.deepEqual(reasons([['mcp-x', 9, 'hub-installed']], half), ['mcp-x: planned null']);
  });

  verifies('curator:auto:min-evidence', 'clamps its numbers, and a zero is the default', () => {
    const config = (flags: JsonObject) => planAutoRun(runRequest([['a', 9]], flags), upstream).config;
    const numbers = (flags: JsonObject) => {
      const { days, max_skills, min_evidence, variants } = config(flags);
      return [days, max_skills, min_evidence, variants];
    };
    assert.deepEqual(numbers({}), [7, 3, 2, 1]);
    assert.deepEqual(numbers({ days: 0, max_skills: 0, min_evidence: 0, variants: 0 }), [1, 3, 2, 1]);
    assert.deepEqual(numbers({ days: 9999, max_skills: 99, min_evidence: 9999, variants: 9 }), [3650, 25, 1000, 4]);
    assert.deepEqual(numbers({ days: -1, max_skills: -1, min_evidence: -1, variants: -1 }), [1, 1, 1, 1]);
  });

  verifies('curator:auto:selection-shown', 'says where things lie by default', () => {
    const { config, safety } = planAutoRun(runRequest([['a', 9]]), upstream);
    assert.deepEqual(
      [config.skills_dir, config.backup_dir, config.hermes_home, config.local_skills_dir],
      ['~/.hermes/skills', '~/.hermes/plugins/curator-evolver/backups', '~/.hermes', '~/.hermes/skills'],
    );
    assert.equal(safety.restore_drill_state_path, '~/.hermes/plugins/curator-evolver/backups/restore-drill-state.json');
    const named = planAutoRun(runRequest([['a', 9]], { skills_dir: '/x/skills/', backup_dir: '/b' }), upstream);
    assert.deepEqual(
      [named.config.hermes_home, named.safety.restore_drill_state_path],
      ['/x', '/b/restore-drill-state.json'],
    );
    const other = planAutoRun(runRequest([['a', 9]], { skills_dir: '/x/mine' }), upstream);
    assert.deepEqual([other.config.hermes_home, other.config.local_skills_dir], ['~/.hermes', '~/.hermes/skills']);
  });

  verifies('curator:auto:selection-shown', 'an entry that was refused early holds the first group only', () => {
    const { candidates } = planAutoRun(
      runRequest([
        ['a', 9],
        ['b', 8, 'missing'],
      ]),
      upstream,
    );
    const lead = [
      'skill_name',
      'risk',
      'mutation_policy',
      'selection',
      'target_path',
      'source',
      'source_writable',
      'status',
      'reason',
    ];
    assert.deepEqual(Object.keys(candidates[1] ?? {}), lead);
    assert.deepEqual([candidates[1]?.source, candidates[1]?.source_writable], ['missing', false]);
    assert.deepEqual(Object.keys(candidates[0] ?? {}).slice(lead.length), [
      'variants_requested',
      'variants',
      'selected_variant',
      'current_sha256',
      'new_content_changed',
      'size_strategy',
      'support_files',
      'content_size',
      'evidence_summary',
      'restore_drill_gate',
    ]);
    assert.deepEqual(candidates[0]?.evidence_summary, { tool_events: 9, skill_events: 9, error_events: 1 });
  });

  verifies(
    'curator:auto:semantic-reorders-only',
    'a model puts eligible skills first and the rest keep their order',
    () => {
      const ranked = (name: string, score: number) => ({ skill_name: name, score, reasons: [] });
      const asked = runRequest(
        [
          ['a', 9],
          ['b', 8],
          ['c', 7],
          ['d', 1],
        ],
        { rerank_candidates: true, max_skills: 3 },
      );
      const ranking = {
        mode: 'semantic-reranked',
        model_executed: true,
        reranker_executed: true,
        candidates: [ranked('d', 1), ranked('c', 0.9), ranked('c', 0.8), ranked('z', 0.7)],
      };
      const { candidates, selection } = planAutoRun({ ...asked, ranking }, upstream);
      assert.deepEqual(
        candidates.map((one) => [one.skill_name, one.selection.source, one.selection.score]),
        [
          ['c', 'semantic-reranked', 0.9],
          ['a', 'evidence-threshold', 9],
          ['b', 'evidence-threshold', 8],
        ],
      );
      assert.deepEqual(
        [selection.mode, selection.semantic_requested, selection.rerank_requested, selection.eligible_skill_count],
        ['semantic-reranked', true, true, 3],
      );
      assert.deepEqual(
        [selection.reranker_executed, selection.fallback, selection.error],
        [true, undefined, undefined],
      );
    },
  );
});

/** The original's classification, line by line of notes 7 and in the corners of its language. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { classifyCandidate } from '#extensions/curator/mine.ts';
import type { JsonValue } from '#public/talaria.ts';
import { verifies } from '../../../verifies.ts';

const upstream = { compat: 'upstream' } as const;
const classify = (line: JsonValue) => classifyCandidate(line, upstream);

const UNCLASSIFIED = 'ignore: unclassified evidence';
const EPHEMERAL = 'ignore: ephemeral progress note';
const DUMP = 'ignore: line-numbered source dump';
const WORKFLOW = 'skill_new: new workflow skill candidate';
const SAFETY = 'memory: curator-evolver safety preference';
const FAILURE = 'replay_benchmark: replay benchmark for tool failure';
const NEAR_CAP = 'skill_update: near-cap SKILL.md for unknown skill';

const CASES: readonly (readonly [line: JsonValue, verdict: string])[] = [
  // 1: digits and a pipe, twice, at the start or behind a blank
  ['1|a\n2|b', DUMP],
  ['1|a 2|b', DUMP],
  ['1|a2|b', UNCLASSIFIED],
  ['x1|a y2|b', UNCLASSIFIED],
  ['1 |a\n2 |b', UNCLASSIFIED],
  ['٣|a\n٤|b', DUMP],
  ['1|a\n2|failed', DUMP],
  [{ text: '1|a\n2|failed', is_error: [] }, DUMP],
  [{ text: '1|a\n2|failed', is_error: 1 }, FAILURE],
  [{ text: '1|a\n2|b', is_error: 'false' }, FAILURE],
  [{ text: '1|a\n2|b', skill_md_size: 5 }, UNCLASSIFIED],
  [{ text: '1|a\n2|b', skill_md_size: 0 }, DUMP],
  // 2: near the cap
  [{ text: '', skill_md_size: 90_000 }, NEAR_CAP],
  [{ text: '', skill_md_size: 89_999 }, EPHEMERAL],
  [{ text: '', skill_md_size: '95000' }, NEAR_CAP],
  [{ text: 'SKILL.md has 95000 bytes', skill_md_size: 10 }, UNCLASSIFIED],
  ['SKILL.md: 90000 bytes', NEAR_CAP],
  ['skill.md 99999bytes', NEAR_CAP],
  ['SKILL.md ９００００ bytes', NEAR_CAP],
  ['SKILL.md 9000 bytes', UNCLASSIFIED],
  [`SKILL.md${'.'.repeat(41)}95000 bytes`, UNCLASSIFIED],
  ['README.md 95000 bytes', UNCLASSIFIED],
  ['it is near 100k', NEAR_CAP],
  ['over cap now', NEAR_CAP],
  [{ text: 'failed: near cap', is_error: true, target_skill: 'a' }, 'skill_update: near-cap SKILL.md for a'],
  // 3: a safety preference
  ['curator-evolver may auto-apply to non-core ones', SAFETY],
  ['auto-apply agent-created by curator-evolver', UNCLASSIFIED],
  ['durable memory: no PR numbers', SAFETY],
  ['durable memory 只存 SOP', SAFETY],
  ['task progress is no durable memory', UNCLASSIFIED],
  ["curator: don't touch external skills", SAFETY],
  ['curator do not modify core', SAFETY],
  ['curator must not read core', UNCLASSIFIED],
  ['never change core', UNCLASSIFIED],
  // 4: a failure
  [{ text: 'all well', is_error: true, tool_name: 'patch' }, 'replay_benchmark: replay benchmark for patch failure'],
  ['{"exit_code": 1}', FAILURE],
  ['{"exit_code": -1.5}', FAILURE],
  ['{"exit_code": "1"}', UNCLASSIFIED],
  ['{"exit_code": null}', UNCLASSIFIED],
  ['{"error": []}', UNCLASSIFIED],
  ['{"error": {"a": 1}}', FAILURE],
  ['{"exception": "x"}', FAILURE],
  [{ text: 'a captain', tool_name: 'skill_manage' }, 'replay_benchmark: replay benchmark for skill_manage failure'],
  [{ text: 'a captain', tool_name: 'terminal' }, UNCLASSIFIED],
  ['Traceback', FAILURE],
  ['tracebacks', UNCLASSIFIED],
  ['404 Not Found', FAILURE],
  ['exit code 0', FAILURE],
  ['exit code 12', FAILURE],
  ['exit=0', UNCLASSIFIED],
  ['exit=3', FAILURE],
  ['nonzero', FAILURE],
  ['it failed.', FAILURE],
  ['failedé', UNCLASSIFIED],
  ['stderr', FAILURE],
  ['stderr_log', UNCLASSIFIED],
  ['quota exceeded', FAILURE],
  // 5: a workflow
  ['1. a 2. b', WORKFLOW],
  ['٣. a\n٤. b', WORKFLOW],
  ['1.a 2.b', UNCLASSIFIED],
  ['first and then', UNCLASSIFIED],
  ['first `a` then', WORKFLOW],
  ['step 1 `a` step 2', WORKFLOW],
  ['`a` `b`', WORKFLOW],
  ['`a\nb` `c`', UNCLASSIFIED],
  [{ text: '`a` `b`', target_skill: 'x' }, 'skill_update: workflow update for x'],
  // 6: passing progress
  ['', EPHEMERAL],
  [' \n\t', EPHEMERAL],
  ['#7', EPHEMERAL],
  ['abcdef1', EPHEMERAL],
  ['abcdef', UNCLASSIFIED],
  ['a'.repeat(41), UNCLASSIFIED],
  ['PR #3 squashed', EPHEMERAL],
  ['PR 3 is wip', EPHEMERAL],
  ['PR #3 opened', UNCLASSIFIED],
];

describe('classification as the original does it', () => {
  verifies(['curator:mine:classes', 'curator:compat:upstream'], 'the first rule that fits decides', () => {
    for (const [line, verdict] of CASES) {
      const { candidate_type: type, title } = classify(typeof line === 'string' ? { text: line } : line);
      assert.equal(`${type}: ${title}`, verdict, JSON.stringify(line));
    }
  });

  verifies('curator:mine:classes', 'confidence and metadata belong to the rule', () => {
    const cases: readonly (readonly [line: JsonValue, confidence: number, metadata: JsonValue])[] = [
      [{ text: '1|a 2|b' }, 0.2, { category: 'source_dump' }],
      [
        { text: 'near cap' },
        0.7,
        { direct_append_allowed: false, reason: 'skill_md_near_cap', observed_size_bytes: null },
      ],
      [{ text: 'durable memory: PR' }, 0.9, { category: 'user_safety_preference' }],
      [{ text: 'failed' }, 0.75, { tool_name: null, is_error: true }],
      [{ text: '`a` `b`' }, 0.65, { category: 'workflow' }],
      [{ text: '#1' }, 0.2, { category: 'ephemeral' }],
      [{ text: 'x' }, 0.1, { category: 'low_confidence' }],
    ];
    for (const [line, confidence, metadata] of cases) {
      const found = classify(line);
      assert.deepEqual([found.confidence, found.metadata], [confidence, metadata], JSON.stringify(line));
    }
  });

  verifies('curator:mine:stable-id', 'references are sorted by code point and kept as often as given', () => {
    const id = (refs: string) => sha256(`ignore|unclassified evidence|${refs}`).slice(0, 32);
    assert.equal(classify({ text: 'x' }).id, id(''));
    assert.equal(classify({ text: 'x', evidence_ref: 'r' }).id, id('r'));
    assert.equal(classify({ text: 'x', evidence_refs: ['b', 'a', 'Z'] }).id, id('Z,a,b'));
    assert.equal(classify({ text: 'x', evidence_refs: ['😀', '\uffff'] }).id, id('\uffff,😀'));
    assert.equal(classify({ text: 'x', evidence_refs: ['a', 'a'] }).id, id('a,a'));
    assert.deepEqual(Object.keys(classify({ text: 'x' })).sort(), [
      'auto_apply_allowed',
      'candidate_type',
      'confidence',
      'evidence_refs',
      'id',
      'metadata',
      'rationale',
      'requires_human_review',
      'target_skill',
      'title',
    ]);
  });

  verifies('curator:mine:classes', 'the words inside JSON count, in the order of the keys', () => {
    const rationale = (text: string) => classify({ text }).rationale;
    assert.equal(rationale('{"content": "c", "text": "t", "summary": "s"}'), 's t c');
    assert.equal(rationale('{"output": {"error": "e", "text": "t"}}'), 't e');
    assert.equal(rationale('{"summary": " ", "results": [{"text": "a"}, {"x": 1}, {"output": "b"}]}'), 'a b');
    assert.equal(rationale('{"x": "y"}'), '{"x": "y"}');
    assert.equal(rationale('  {"text": "a"}  '), 'a');
    assert.equal(rationale(`a\n${'é'.repeat(200)}`), `a ${'é'.repeat(137)}…`);
  });
});

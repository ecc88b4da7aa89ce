// Every rule against its own data: examples match, choices lead back to what they say.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rankRules, reflexInput, THRESHOLDS } from '#core/reflex/decide-turn.ts';
import { helpText } from '#core/reflex/reflex-client.ts';
import { verifies } from '../../verifies.ts';
import { allRules, folder, rules, toolNames } from './all-rules.ts';

const around = { history: [], system: '', tools: new Set<string>(toolNames), now: 0, folder };

function ranked(line: string) {
  return rankRules(allRules, reflexInput(line, around));
}

describe('reflex rules', () => {
  test('intents are unique and every rule has examples', () => {
    assert.equal(new Set(allRules.map((rule) => rule.intent)).size, allRules.length);
    for (const rule of allRules) assert.ok(rule.examples.length >= 2, rule.intent);
  });

  for (const rule of allRules) {
    test(`examples of ${rule.intent} match it, clear of every other rule`, () => {
      for (const example of rule.examples) {
        const [best, next] = ranked(example);
        assert.equal(best?.rule.intent, rule.intent, example);
        assert.ok((best?.match.score ?? 0) >= THRESHOLDS.act, example);
        assert.ok((best?.match.score ?? 0) > (next?.match.score ?? 0), example);
      }
    });

    test(`a choice of ${rule.intent} does what its line says`, () => {
      for (const example of rule.examples) {
        const [best] = ranked(example);
        assert.ok(best, example);
        const line = rule.restate(best.match);
        const input = reflexInput(line, around);
        const again = rankRules(allRules, input)[0];
        assert.equal(again?.rule.intent, rule.intent, line);
        const step = rule.act(best.match, reflexInput(example, around), []);
        assert.deepEqual(again?.rule.act(again.match, input, []), step, line);
      }
    });
  }

  verifies('core:reflex:matches-only', 'help lists every rule by intent and example', () => {
    const text = helpText(rules);
    for (const rule of rules) {
      assert.ok(text.includes(rule.intent), rule.intent);
      assert.ok(text.includes(rule.examples[0] ?? ''), rule.intent);
    }
  });
});

// Owns the intent `show-skill`: one SKILL.md, quoted whole.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { forms, patterns } from './english.ts';
import { namedIn } from './named-in.ts';
import { readSkillAnswer } from './skill-answer.ts';

export const showSkillRule: ReflexRule = {
  purpose: 'meta',
  intent: 'show-skill',
  effect: 'read',
  examples: ['show the skill release', 'what does the skill release do'],

  match(input) {
    const name = namedIn(input.words, patterns.showNamed);
    return name === undefined ? input.fit(forms.show) : { score: 0.98, slots: { name } };
  },

  restate: ({ slots }) => `show the skill ${slots.name}`,

  act({ slots }, _input, results) {
    const [result] = results;
    const name = slots.name ?? '';
    if (result === undefined) return { type: 'call', calls: [{ name: 'skill_view', arguments: { name } }] };
    const seen = readSkillAnswer(result);
    const quote = seen.ok
      ? { source: `skill ${name}`, text: seen.value.content }
      : { source: 'skill_view', text: seen.detail };
    return { type: 'say', text: '', quotes: [quote] };
  },
};

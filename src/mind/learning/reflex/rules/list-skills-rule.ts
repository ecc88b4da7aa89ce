// Owns the intent `list-skills`: names and descriptions, as skills_list gives them.
import { plural } from '#base/text.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { forms, texts } from './english.ts';
import { readSkillList } from './skill-answer.ts';

/** Above what a bare listing of folders scores: `skills` is a word of ours. */
const SURE = 0.99;

export const listSkillsRule: ReflexRule = {
  purpose: 'meta',
  intent: 'list-skills',
  effect: 'read',
  examples: ['what skills are there', 'list my skills'],

  match: (input) => (input.fit(forms.list) === undefined ? undefined : { score: SURE, slots: {} }),

  restate: () => 'what skills are there',

  act(_match, _input, results) {
    const [result] = results;
    if (result === undefined) return { type: 'call', calls: [{ name: 'skills_list', arguments: {} }] };
    const skills = readSkillList(result);
    if (skills.length === 0) return { type: 'say', text: texts.noSkills };
    const text = skills.map(({ name, description }) => `${name}: ${description}`).join('\n');
    return { type: 'say', text: '', quotes: [{ source: plural(skills.length, 'skill'), text }] };
  },
};

// Owns the intent `save`: the last output of the conversation becomes a file, after a question (reflex 8).
// Invariant: the content is the result as it stands in the conversation, byte for byte.

import { plural } from '#base/text.ts';
import type { ReflexQuestion, ReflexRule } from '#core/agent/reflex-rule.ts';
import { quoteResult, spokenPath } from './answers.ts';
import { forms } from './english.ts';
import { lastOutput } from './history.ts';

export const saveRule: ReflexRule = {
  purpose: 'act',
  intent: 'save',
  effect: 'write',
  examples: [
    'save that as output.txt',
    'write the last output to notes.md',
    'save the result in a file called log.txt',
  ],

  match(input) {
    const fit = input.fit(forms.save);
    return fit?.slots.path === '@same' ? undefined : fit;
  },

  restate: ({ slots }) => `save that as ${spokenPath(slots.path ?? '')}`,

  missing: (): ReflexQuestion => ({
    type: 'ask',
    question: 'Save it under which name?',
    choices: ['save that as output.txt'],
    fill: 'save that as {}',
  }),

  act(match, input, results) {
    const path = match.slots.path ?? '';
    const [result] = results;
    if (result !== undefined) return quoteResult(path, result);
    const last = lastOutput(input.history);
    if (last === undefined)
      return { type: 'say', text: 'There is no output in this conversation yet that could be saved.' };
    const content = last.result.text;
    if (!input.confirmed) {
      const what = `${plural(content.length, 'character')} of the last output (${last.call.name})`;
      return {
        type: 'ask',
        question: `Write ${what} to ${path}? A file of that name is replaced.${wholeIn(last.result.observed.spill)}`,
        choices: [saveRule.restate(match)],
        confirms: true,
      };
    }
    return { type: 'call', calls: [{ name: 'write_file', arguments: { path, content } }] };
  },
};

/** What the conversation holds may be a preview of a longer output. */
function wholeIn(spill: string | undefined): string {
  return spill === undefined ? '' : ` This is the preview; the whole output is in ${spill}.`;
}

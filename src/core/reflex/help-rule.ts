// Owns the intent `help`: what reflex can do, in the chat as in /help.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { helpText } from './help-text.ts';

const FORMS: readonly string[] = [
  '(help|commands|usage|menu|options)',
  'help me @0.95',
  'what (can|could|do) you do [here|for me|without a model]',
  'what (are|is) (you able to do|your commands|the commands|your abilities|your rules|your features)',
  '<show> [the|your] (help|commands|rules|list of commands)',
  'list [all] [the|your] (commands|rules|abilities)',
  'how does this work',
  'how do (you|i) (work|use you|use this)',
  'what do you understand',
];

export function helpRule(rules: readonly ReflexRule[]): ReflexRule {
  return {
    purpose: 'meta',
    intent: 'help',
    examples: ['help', 'what can you do'],
    match: (input) => input.fit(FORMS),
    restate: () => 'help',
    act: () => ({ type: 'say', text: helpText(rules) }),
  };
}

// Owns the intent `help`: what reflex can do, in the chat as in /help.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { helpText } from './help-text.ts';

const FORMS: readonly string[] = [
  '(help|commands|usage) [page|menu|text]',
  '(menu|options|manual|instructions|info) @0.5',
  '(/help|/commands|/?)',
  '[i] need [some] help [with this]',
  'help me [out] @0.95',
  '[so] what [all|else|exactly] (can|could|do) you (do|understand|offer|know how to do|help [me] with) [here|for me|without a model|offline]',
  'what (kind|kinds|sort|sorts|types) of (things|commands|stuff|requests|questions) (can|do|may|could|might|should) (you|i) (do|understand|ask|say|type|handle|use) [you] [for|to do|about]',
  'what (are|is) [all] (you able to do|you capable of|you good for|your commands|the commands|your abilities|your rules|your features|the options|available commands|your capabilities|your skills|your functions) [here|now|please]',
  '[<show>|<list>|give me|print] [the|your|a] [list of] [<all>] [of] [the|your] [available] (help|commands|rules|abilities|intents|options|features|capabilities) [that] [you (understand|know|can do|offer|support|handle)|i can (use|type|say|ask)] @0.97',
  '[<show>|<list>|give me|print] [the|your|a] [list of] [<all>] [of] [the|your] [available] (examples|things|stuff|functions|phrases) [that] (you (understand|know|can do|offer|support|handle)|i can (use|type|say|ask)) @0.97',
  'what (can|could|should|may|do) i (say|type|ask|write|enter|try) [here|you|to you|now|first|next]',
  'what (can|could) i do [here|with you|with this|now]',
  'how (does|do) (this|it|you|that) [thing|tool|agent|program|app] work',
  'how (do|can|should) i (use|work with|talk to|operate|drive|get started with|start with) (you|this|it|that) [thing|tool|agent|program|app|properly]',
  'how (do|can) i (get started|start|begin)',
  '(show|tell|teach) [me|us] what [all] you (can do|are able to do|understand|offer)',
  'what do you understand',
  '(what|which) (commands|things|requests) (are there|exist|can i use|can i give you|do you take) [here]',
  'which (commands|things|phrases) (do|can) you (understand|know|do|support|have)',
  'teach me [how] [to] (use|work with|talk to) (you|this|it)',
  'what (can|may|could) i ask (of|from) you [to do]',
  '~ (what|which) (can|could|may|should|might|do|are) (you|i) (do|ask|say|type|request|try|use|tell|good at|capable of|able to) [things|sort of things|kinds of things|commands|of you]',
  'i am new here @0.5',
  'i (am lost|am stuck|do not know what to (do|type|say|ask|write)) [help [me] [out]]',
];

export function helpRule(rules: readonly ReflexRule[]): ReflexRule {
  return {
    purpose: 'meta',
    intent: 'help',
    effect: 'read',
    examples: ['help', 'what can you do'],
    match: (input) => input.fit(FORMS),
    restate: () => 'help',
    act: () => ({ type: 'say', text: helpText(rules) }),
  };
}

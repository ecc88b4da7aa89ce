// Owns what /help says of the rules, and what the first screen suggests for one folder.
// Knows no rule by name but what it is given. Invariant: everything shown is a line that works as it stands.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';

const HEADINGS: Readonly<Record<ReflexRule['purpose'], string>> = {
  act: 'Do',
  memory: 'Remember',
  recall: 'Recall',
  extract: 'Read by rule',
  meta: 'About',
};

export function helpText(rules: readonly ReflexRule[]): string {
  const purposes = Object.keys(HEADINGS).filter((purpose): purpose is ReflexRule['purpose'] => purpose in HEADINGS);
  const blocks = purposes.flatMap((purpose) => {
    const own = rules.filter((rule) => rule.purpose === purpose);
    if (own.length === 0) return [];
    const width = Math.max(...own.map((rule) => rule.intent.length));
    return [
      [
        HEADINGS[purpose],
        ...own.map((rule) => `  ${rule.intent.padEnd(width)}  ${rule.examples.slice(0, 2).join('  ·  ')}`),
      ].join('\n'),
    ];
  });
  return ['reflex/1 · rules only, no language model, cost 0', ...blocks].join('\n\n');
}

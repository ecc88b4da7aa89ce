// Owns the code for a question that asks how often something stands in the material: it is counted, by code that can be run again.
// Knows no prompt. Invariant: the sentence says exactly what was counted; the number comes from the computed handle.
import { escaped, quotedPhrases } from './quote-code.ts';

const COUNTING =
  /\bhow\s+(?:many\s+(?:times|lines|mentions|occurrences)|often)\b|\bcount\s+(?:the\s+)?(?:lines|mentions|occurrences|how)\b|\bnumber\s+of\s+(?:times|lines|mentions|occurrences)\b/i;
const COUNTED =
  /\b(?:times|often)\s+(?:(?:is|are|does|do|was|were)\s+)?(?:the\s+)?(?:words?\s+|terms?\s+|names?\s+)?([\p{L}\p{N}_.-]{2,60})|\b(?:mention|mentions|of|with|contain|contains|say|says)\s+(?:the\s+)?(?:words?\s+)?([\p{L}\p{N}_.-]{2,60})/iu;

/** What is to be counted; null: the question asks for no count of words. */
export function countedPhrase(question: string): string | null {
  if (!COUNTING.test(question)) return null;
  const [quoted] = quotedPhrases(question);
  if (quoted !== undefined) return quoted;
  const found = COUNTED.exec(question);
  return found?.[1] ?? found?.[2] ?? null;
}

export function countCode(phrase: string): string {
  const pattern = `(?<![\\p{L}\\p{N}])${escaped(phrase)}(?![\\p{L}\\p{N}])`;
  return `// How often it stands in the material, counted.
const count = compute((context) => {
  const pattern = new RegExp(${JSON.stringify(pattern)}, 'iu');
  const lines = new Set();
  let times = 0;
  for (let from = 0, more = true; more; ) {
    const hits = context.search(pattern, { from, max: 5000 });
    for (const hit of hits) lines.add(hit.line);
    times += hits.length;
    more = hits.more;
    if (more) from = hits[hits.length - 1].at + 1;
  }
  return { times, lines: lines.size };
}, context);
print(count);
const { times, lines } = count.value;
const word = ${JSON.stringify(phrase)};
finish([{ text: \`"\${word}" stands \${times} times in the context, on \${lines} lines.\`, handles: [count] }]);`;
}

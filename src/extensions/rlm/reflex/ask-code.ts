// Owns the code by which the rules answer `rlm ask` (`talaria.rlm.repl.v1`): it searches lines that hold words of the question, asks sub-calls
// about the stretches around the best, and cites what those quote as spans; what stands how often it counts. Knows no prompt.
// Invariant: every sentence of the answer is a stretch of the context or a count of it; nothing found: it finishes with nothing.
import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { questionStems } from './pick-quotes.ts';

const COUNTING = /\bhow\s+(?:many\s+(?:times|lines)|often)\b/i;
const COUNTED = /\b(?:word|contains?|mentions?)\s+([\p{L}\p{N}_.-]{2,60})/iu;

/** `failed`: a block did; then the best lines are quoted without asking anybody. */
export function askCode(question: string, failed: boolean): string {
  const [phrase = COUNTED.exec(question)?.[1]] = quotedPhrases(question);
  if (!failed && phrase !== undefined && COUNTING.test(question)) return countCode(phrase);
  const given = `const question = ${JSON.stringify(question)};\nconst words = ${JSON.stringify(searchWords(question))};`;
  return [given, SEARCH, failed ? LINES : SUB_CALLS].join('\n');
}

function countCode(phrase: string): string {
  const pattern = `(?<![\\p{L}\\p{N}])${escaped(phrase)}(?![\\p{L}\\p{N}])`;
  return `// How often it stands in the material, counted.
const count = compute((context) => {
  const lines = new Set();
  let times = 0;
  for (let from = 0; from >= 0; ) {
    const hits = context.search(new RegExp(${JSON.stringify(pattern)}, 'iu'), { from, max: 5000 });
    for (const hit of hits) lines.add(hit.line);
    times += hits.length;
    from = hits.more ? hits[hits.length - 1].at + 1 : -1;
  }
  return { times, lines: lines.size };
}, context);
print(count);
const { times, lines } = count.value;
finish([{ text: ${JSON.stringify(`"${phrase}"`)} + \` stands \${times} times in the context, on \${lines} lines.\`, handles: [count] }]);`;
}

const SEARCH = `const patterns = words.map(([, pattern]) => new RegExp(pattern, 'iu'));
const lines = new Map();
for (const [start] of words) {
  for (const form of new Set([start, start[0].toUpperCase() + start.slice(1), start.toUpperCase()])) {
    for (const hit of context.search(form, { max: 3000 })) {
      if (!lines.has(hit.line)) lines.set(hit.line, { ...hit, own: patterns.filter((pattern) => pattern.test(hit.text)) });
    }
  }
}
// The rarer a word the more it counts.
const found = [...lines.values()];
const weights = new Map(patterns.map((one) => [one, 1 / (1 + Math.log(1 + found.filter(({ own }) => own.includes(one)).length))]));
const sum = (list) => list.reduce((total, one) => total + weights.get(one), 0);
const ranked = found.map((one) => ({ ...one, value: sum(one.own) })).sort((a, b) => b.value - a.value || a.line - b.line);
const best = [];
for (const one of ranked) {
  if (best.length < 6 && one.value > 0 && best.every((other) => Math.abs(other.line - one.line) > 10)) best.push(one);
}`;

const LINES = 'finish(best.map((line) => ({ text: line.text.trim(), handles: [line] })));';

const SUB_CALLS = `const around = ({ line, at, start, end }) => {
  const [near, file] = [context.lineRange(Math.max(1, line - 8), line + 14), context.files.find((one) => at < one.end)];
  return { start: Math.max(near.start, file.start, start - 3000), end: Math.min(near.end, file.end, end + 4000) };
};
// No word to search for: how each part of the context begins.
const parts = words.length > 0 ? [] : [...context.chunks({ bytes: Math.max(4000, Math.ceil(context.length / 6)) })];
const pieces = [...best.map(around), ...parts.slice(0, 8).map(({ start, end }) => ({ start, end: Math.min(end, start + 6000) }))];
const replies = await llmQueryBatched(pieces.map((piece) => ({ question, piece })));
const bytes = (text) => encodeURIComponent(text).replace(/%../g, '.').length;
const score = (text) => sum(patterns.filter((pattern) => pattern.test(text)));
const claims = replies.flatMap(({ claims }, which) => claims.map((claim, place) => ({ claim, place, at: context.find(claim.text, pieces[which].start) })));
const top = Math.max(0.01, ...claims.map(({ claim }) => score(claim.text)));
// What a sub-call put first counts beside the words of the question.
const cited = claims.map(({ claim: { text }, place, at }) => ({
  text: text.replace(/\\s+/g, ' '),
  handles: [span(at, at + bytes(text))],
  value: score(text) / top + 0.6 / (1 + place),
  at,
}));
cited.sort((a, b) => b.value - a.value || a.at - b.at);
const good = cited.filter((one, place) => one.value >= cited[0].value / 3 && cited.findIndex(({ text }) => text === one.text) === place).slice(0, 6);
finish(words.length > 0 ? good : good.sort((a, b) => a.at - b.at));`;

const MOST_WORDS = 12;
const QUOTED = /["“„«`']([^"“”„«»`'\n]{2,80})["”»`'](?![\p{L}\p{N}])/gu;

function quotedPhrases(question: string): readonly string[] {
  return [...question.matchAll(QUOTED)].map(([, phrase = '']) => phrase.trim()).filter((phrase) => phrase.length > 1);
}

/** What is searched for as it is, and the source of a pattern (flags iu) that its line matches. */
export function searchWords(question: string): readonly (readonly [start: string, pattern: string])[] {
  const wanted = new Set(questionStems(question));
  const words = [...new Set(splitWords(question))].filter((word) => wanted.has(stemWord(word)));
  const phrases = quotedPhrases(question).map((phrase) => [phrase, escaped(phrase)] as const);
  return [...phrases, ...words.map(formsOf)].slice(0, MOST_WORDS);
}

/** "verifi" and "verify" begin with "verif". */
function formsOf(word: string): readonly [start: string, pattern: string] {
  const stem = stemWord(word).replace(/(?<=.{4})i$/, '');
  const start = stem.length > 1 && word.startsWith(stem) ? stem : word;
  return [start, `(?<![\\p{L}\\p{N}])${escaped(start)}[\\p{L}]{0,${start.length > 4 ? 8 : 3}}(?![\\p{L}\\p{N}])`];
}

/** Literal in a pattern with the flag u, where only marks of the syntax may be escaped. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

// Owns the code that answers any other question: lines that hold most of its words are searched, stretches around the best of them go to
// sub-calls, and what those quote is cited as spans. Knows no prompt. Invariant: every sentence of the code's answer is a stretch of the
// context; nothing found: it finishes with nothing.
import { readQuestion } from '../read/read-question.ts';
import { searchWords } from './search-words.ts';

/** Without sub-calls the best lines themselves are quoted. */
export function quoteCode(question: string, { withSubCalls }: { readonly withSubCalls: boolean }): string {
  const words = searchWords(question);
  const gather = words.length === 0 ? BEGINNINGS : SEARCH;
  const given = [
    `const question = ${JSON.stringify(question)};`,
    `const words = ${JSON.stringify(words.map(({ word, starts, pattern }) => [word, starts, pattern]))};`,
    `const shapes = ${JSON.stringify(readQuestion(question).shapes.map(({ shown }) => [shown.source, shown.flags]))}.map(([source, flags]) => new RegExp(source, flags));`,
    'const most = 6;',
  ];
  return [...given, SCORE, gather, withSubCalls ? ASK : LINES, CITE].join('\n');
}

/** How many of the question's words a text holds, the rarer the more. */
const SCORE = `const seen = new Map(words.map(([word]) => [word, 0]));
const patterns = words.map(([word, , source]) => [word, new RegExp(source, 'iu')]);
const held = (text) => patterns.filter(([, pattern]) => pattern.test(text)).map(([word]) => word);
const weight = (word) => 1 / (1 + Math.log(1 + seen.get(word)));
const sum = (list) => list.reduce((total, word) => total + weight(word), 0);
const score = (text) => {
  const own = sum(held(text));
  return own > 0 && shapes.some((shape) => shape.test(text)) ? own * 1.25 : own;
};`;

const SEARCH = `// Lines that hold words of the question.
const lines = new Map();
for (const [word, starts] of words) {
  for (const start of starts) {
    for (const hit of context.search(start, { max: 3000 })) {
      if (lines.has(hit.line)) continue;
      const own = held(hit.text);
      if (own.length > 0) lines.set(hit.line, { line: hit.line, hit, own });
    }
  }
}
for (const { own } of lines.values()) for (const word of own) seen.set(word, seen.get(word) + 1);
// A line counts with its neighbours, for a sentence may go on in the next line.
const value = ({ line, hit, own }) => {
  const near = [-3, -2, -1, 1, 2, 3].flatMap((step) => lines.get(line + step)?.own ?? []);
  return score(hit.text) + 0.5 * sum([...new Set(near)].filter((word) => !own.includes(word)));
};
const ranked = [...lines.values()].map((one) => ({ ...one, value: value(one) })).sort((a, b) => b.value - a.value || a.line - b.line);
const best = [];
for (const one of ranked) {
  if (best.length >= most || one.value < ranked[0].value / 3) break;
  if (best.every((other) => Math.abs(other.line - one.line) > 10)) best.push(one);
}
const fileOf = (byte) => context.files.find((file) => file.start <= byte && byte < file.end);
const pieces = best.map(({ line, hit }) => {
  const around = context.lineRange(Math.max(1, line - 8), line + 14);
  const file = fileOf(hit.at);
  const start = Math.max(around.start, file?.start ?? 0, hit.start - 3000);
  const end = Math.min(around.end, file?.end ?? context.length, hit.end + 4000);
  return { start, end };
});`;

const BEGINNINGS = `// No word to search for: how each part of the context begins.
const best = [];
const size = Math.max(4000, Math.ceil(context.length / most));
const pieces = [...context.chunks({ bytes: size })].slice(0, most + 2).map(({ start, end }) => ({ start, end: Math.min(end, start + 6000) }));`;

const ASK = `const replies = await llmQueryBatched(pieces.map((piece) => ({ question, piece })));
const claims = replies.flatMap((reply, at) => reply.claims.map((claim, place) => ({ text: claim.text, claim, place, piece: pieces[at] })));`;

const LINES = `const claims = best.map(({ hit }) => ({ text: hit.text.trim(), claim: null, place: 0, piece: hit }));`;

const CITE = `// The exact place of each quotation.
const bytes = (text) => [...text].reduce((total, one) => total + (one < '\\u0080' ? 1 : one < '\\u0800' ? 2 : one < '\\u{10000}' && one.length === 1 ? 3 : 4), 0);
const top = Math.max(...claims.map(({ text }) => score(text)), 0.01);
const parts = claims.map(({ text, claim, place, piece }, order) => {
  const at = context.find(text, piece.start);
  const stands = at >= piece.start && at < piece.end;
  const handle = stands ? span(at, at + bytes(text)) : claim;
  // What a sub-call put first counts beside the words of the question.
  return { text: text.replace(/\\s+/g, ' '), handles: [handle], value: score(text) / top + 0.6 / (1 + place), order };
}).filter(({ handles }) => handles[0]);
parts.sort((a, b) => b.value - a.value || a.order - b.order);
const good = parts.filter((part, at) => part.value >= parts[0].value / 3 && parts.findIndex(({ text }) => text === part.text) === at);
const kept = good.slice(0, 6);
finish(words.length === 0 ? kept.sort((a, b) => a.order - b.order) : kept);`;

// Owns the code that answers any other question: lines that hold most of its words are searched, stretches around the best of them go to
// sub-calls, and what those quote is cited as spans. Knows no prompt. Invariant: every sentence of the code's answer is a stretch of the
// context; nothing found: it finishes with nothing.
import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { readQuestion } from './read-question.ts';

/** Without sub-calls the best lines themselves are quoted. */
export function quoteCode(question: string, { withSubCalls }: { readonly withSubCalls: boolean }): string {
  const words = searchWords(question);
  const gather = words.length === 0 ? BEGINNINGS : SEARCH;
  const given = [
    `const question = ${JSON.stringify(question)};`,
    `const words = ${JSON.stringify(words.map(({ word, starts, pattern }) => [word, starts, pattern]))};`,
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
const score = (text) => sum(held(text));`;

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

export interface SearchWord {
  readonly word: string;
  /** What is searched for, as it is. */
  readonly starts: readonly string[];
  /** Source of a pattern (flags iu) that a line must match. */
  readonly pattern: string;
}

const MOST_WORDS = 12;
const QUOTED = /["“„«`']([^"“”„«»`'\n]{2,80})["”»`'](?![\p{L}\p{N}])/gu;

export function quotedPhrases(question: string): readonly string[] {
  return [...question.matchAll(QUOTED)].map(([, phrase = '']) => phrase.trim()).filter((phrase) => phrase.length > 1);
}

export function searchWords(question: string): readonly SearchWord[] {
  const wanted = new Set(readQuestion(question).stems);
  const typed = new Map(originals(question).map((word) => [word.toLowerCase(), word]));
  const words = [...new Set(splitWords(question))].filter((word) => wanted.has(stemWord(word)));
  const phrases = quotedPhrases(question).map((phrase) => ({
    word: phrase,
    starts: [phrase],
    pattern: escaped(phrase),
  }));
  return [...phrases, ...words.map((word) => searchWord(word, typed.get(word)))].slice(0, MOST_WORDS);
}

function searchWord(word: string, typed: string | undefined): SearchWord {
  const stem = stemWord(word);
  const start = beginning(word, stem);
  const starts = [start, `${start.charAt(0).toUpperCase()}${start.slice(1)}`];
  const pattern = `${escaped(start)}[\\p{L}]{0,${roomAfter(start)}}`;
  return {
    word,
    starts: [...new Set([...starts, ...(typed === undefined ? [] : [typed])])],
    pattern: `(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`,
  };
}

/** What word and stem have in common; "verifi" and "verify" begin with "verif". */
function beginning(word: string, stem: string): string {
  let at = 0;
  while (at < stem.length && word[at] === stem[at]) at += 1;
  const common = word.slice(0, at);
  return common.length < 2 ? word : common.length > 4 && common.endsWith('i') ? common.slice(0, -1) : common;
}

/** Letters that may follow: after a short beginning few, or another word would match. */
function roomAfter(start: string): number {
  return start.length >= 5 ? 8 : start.length === 4 ? 4 : 2;
}

function originals(question: string): readonly string[] {
  return question.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
}

/** Literal in a pattern with the flag u, where only marks of the syntax may be escaped. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

// Owns the answers by rule to prompts that are JSON: the four modes of a scaffold call (`rlm.hermes.input.v1`), the baseline's one call
// (`rlm.vanilla_baseline.input.v1`), root and sub-call of `rlm ask` (`talaria.rlm.repl.v1`, `talaria.rlm.sub.v1`). Quotes, copies and counts.
// Invariant: total on any object; every text of a fact or a claim stands in the material of the prompt; nothing fits: no fact, and a gap says
// so; replies over chunks pass the strict reader. Seed 003: bounded JSON sub-calls.

import { isJsonObject, type JsonObject, type JsonValue, objectsOf, textOf } from '#base/json.ts';
import { foldText } from '#base/text/fold.ts';
import { cutPassages, type Passage } from '#base/text/passages.ts';
import { contentStems, splitWords, stemWord } from '#base/text/words.ts';
import { escapeRegExp } from '#base/text.ts';
import { OUTPUT_VERSION } from './scaffold/envelope.ts';

function fieldAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce(
    (at: JsonValue | undefined, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    value,
  );
}

/** Empty: there is no text. */
function textAt(value: JsonValue, ...path: readonly string[]): string {
  return textOf(fieldAt(value, path));
}

function objectsAt(value: JsonValue, ...path: readonly string[]): readonly JsonObject[] {
  return objectsOf(fieldAt(value, path));
}

export function answerHermes(input: JsonObject): string {
  const mode = textAt(input, 'mode');
  if (mode === 'synthesize_parent') return JSON.stringify(answerSynthesis(input));
  return JSON.stringify(mode === 'decompose_ac' ? answerDecomposition(input) : answerLeaf(input));
}

/** What is asked, without the rules of the reply around it. */
function askedOf(input: JsonObject): string {
  const instruction = textAt(input, 'objective', 'instruction');
  const named = /(?:^|\n)Question: ([^\n]{1,2000})/.exec(instruction)?.[1] ?? '';
  return [named, textAt(input, 'ac_node', 'statement')].find((text) => text.trim() !== '') ?? instruction;
}

function replyTo(input: JsonObject, mode: string, fields: JsonObject): JsonObject {
  return {
    schema_version: OUTPUT_VERSION,
    mode,
    rlm_node_id: textAt(input, 'rlm_node', 'id'),
    ac_node_id: textAt(input, 'ac_node', 'id'),
    evidence_references: [],
    residual_gaps: [],
    control: { requires_retry: false, suggested_next_mode: 'none', must_not_recurse: true },
    ...fields,
  };
}

/** How much of the question the best quotation shares, never near certainty. */
function confidenceOf(scored: readonly { readonly score: number }[]): number {
  return Math.round(Math.min(GIVEN, Math.max(0, ...scored.map(({ score }) => score))) * 100) / 100;
}

function gapOf(gap: string, impact: string): JsonObject {
  return { gap, impact, suggested_next_step: 'Ask with words of the text, or with a model.' };
}

/** A rule cannot split a question, so it is atomic. */
function answerDecomposition(input: JsonObject): JsonObject {
  const atomic_rationale = 'What answers is a rule; it cannot split a question.';
  return replyTo(input, 'decompose_ac', {
    verdict: 'atomic',
    confidence: 1,
    result: { summary: 'The question stays whole.', details: {} },
    artifacts: [{ type: 'decomposition', is_atomic: true, atomic_rationale, proposed_child_acs: [] }],
  });
}

/** Of a call over several chunks. */
const MOST_FACTS = 24;

function answerLeaf(input: JsonObject): JsonObject {
  const mode = textAt(input, 'mode') === 'summarize_chunk' ? 'summarize_chunk' : 'execute_atomic';
  const chunks = objectsAt(input, 'context', 'chunks');
  const ids = chunks.map((chunk) => textAt(chunk, 'chunk_id'));
  const quotes = quotesOf(askedOf(input), chunks)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, MOST_FACTS);
  const observed_facts = quotes.map(({ tag, score: _, ...fact }) => (tag === null ? fact : { fact_id: tag, ...fact }));
  const nothing = `Nothing fits the question in ${ids.slice(0, 4).join(', ')}${ids.length > 4 ? ' and the others' : ''}`;
  return replyTo(input, mode, {
    verdict: quotes.length > 0 ? 'passed' : 'partial',
    confidence: confidenceOf(quotes),
    result: { summary: `Passages quoted: ${quotes.length}.`, details: { observed_facts } },
    residual_gaps: quotes.length > 0 ? [] : [gapOf(nothing, 'Nothing is quoted from there.')],
    artifacts: [mode === 'execute_atomic' ? { type: 'atomic_execution', ...UNUSED } : summaryOf(input, ids)],
  });
}

const UNUSED = { deliverable: null, checks_performed: [], claims: [], completion_notes: '' };

function summaryOf(input: JsonObject, source_chunk_ids: readonly string[]): JsonObject {
  const summary_id = `${textAt(input, 'call_context', 'call_id')}:summary`;
  const target_ac_id = textAt(input, 'ac_node', 'id');
  const empty = { facts: [], irrelevant_sections: [], token_estimate_after_summary: 0 };
  return { type: 'chunk_summary', summary_id, source_chunk_ids, target_ac_id, ...empty };
}

function quotesOf(question: string, chunks: readonly JsonObject[]) {
  return chunks.flatMap((chunk) => {
    const evidence_chunk_id = textAt(chunk, 'chunk_id');
    return pickQuotes(question, textAt(chunk, 'content')).map((one) => ({ ...one, evidence_chunk_id }));
  });
}

/** The facts of the children that fit the question best, copied with their ids and chunks. */
function answerSynthesis(input: JsonObject): JsonObject {
  const children = objectsAt(input, 'context', 'child_results');
  const facts = children.flatMap((child) => readFacts(child, 'result_payload', 'reported_result', 'observed_facts'));
  const { confidence, ...claims } = claimsOf(askedOf(input), facts);
  const silent = children.filter((child) => textAt(child, 'completion_status') !== 'completed');
  const gaps = silent.map((child) => gapOf(`${textAt(child, 'call_id')} gave no reply.`, 'Its part is not read.'));
  if (confidence === 0) gaps.push(gapOf('No reported fact fits the question.', 'Nothing is claimed.'));
  const verdict = gaps.length === 0 ? 'passed' : 'partial';
  return { mode: 'synthesize_parent', verdict, confidence, ...claims, residual_gaps: gaps };
}

interface GivenFact {
  readonly fact_id: string;
  readonly text: string;
  readonly evidence_chunk_id: string;
}

function readFacts(value: JsonObject, ...path: readonly string[]): readonly GivenFact[] {
  return objectsAt(value, ...path).flatMap((item) => {
    const [fact_id, text] = [textAt(item, 'fact_id'), textAt(item, 'text')];
    const evidence_chunk_id = textAt(item, 'evidence_chunk_id') || textAt(item, 'chunk_id');
    return fact_id === '' || text === '' || evidence_chunk_id === '' ? [] : [{ fact_id, text, evidence_chunk_id }];
  });
}

/** A fact that is given is there, whatever was asked. */
const GIVEN = 0.8;
const MOST_OF_ALL = 60;

/** What fits, each text once (without words to look for all, up to the bound), references that quote it, a summary that counts. */
function claimsOf(question: string, facts: readonly GivenFact[]) {
  const stems = questionStems(question);
  const all = distinct(facts).map((fact) => ({ ...fact, score: GIVEN }));
  const fitting = stems.length === 0 ? all.slice(0, MOST_OF_ALL) : rankTexts(stems, all, { near: 0.5, most: 16 });
  const chunks = new Set(fitting.map((fact) => fact.evidence_chunk_id)).size;
  const summary = `${fitting.length} of ${facts.length} reported facts fit the question, from ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'}.`;
  return {
    confidence: confidenceOf(fitting),
    result: { summary, retained_facts: fitting.map(({ score: _, ...fact }): JsonObject => fact) },
    evidence_references: fitting.map(({ fact_id, text, evidence_chunk_id }) => ({
      chunk_id: evidence_chunk_id,
      supports_fact_ids: [fact_id],
      quoted_evidence: text,
    })),
  };
}

/** Facts that are given, else tagged lines of the chunks; nothing of an omitted chunk is named. */
export function answerVanilla(input: JsonObject): string {
  const question = askedOf(input);
  const given = readFacts(input, 'context', 'retained_facts');
  const read = quotesOf(question, objectsAt(input, 'context', 'retained_chunks')).flatMap(({ tag, ...fact }) =>
    tag === null ? [] : [{ fact_id: tag, ...fact }],
  );
  const { confidence, result, evidence_references } = claimsOf(question, given.length > 0 ? given : read);
  const omitted = fieldAt(input, ['context', 'omitted_chunk_ids']);
  const beyond = Array.isArray(omitted) ? omitted.length : 0;
  const boundary = fieldAt(input, ['context', 'truncation_boundary']);
  const unknown = `${beyond} chunks were omitted; what they hold is unknown and not claimed.`;
  return JSON.stringify({
    mode: 'vanilla_single_pass',
    verdict: confidence > 0 && beyond === 0 ? 'passed' : 'partial',
    confidence,
    result: { ...result, truncation_report: isJsonObject(boundary) ? boundary : {} },
    evidence_references,
    residual_gaps: beyond === 0 ? [] : [gapOf(unknown, 'The answer ends where the supplied chunks end.')],
  });
}

/** The passages of the piece that fit the question, as claims. */
export function answerSub(input: JsonObject): string {
  const claims = pickQuotes(textAt(input, 'question'), textAt(input, 'piece')).map(({ text }) => ({ text }));
  return JSON.stringify({ answer: claims.map(({ text }) => text).join('\n'), claims });
}

/** Code; when no code runs any more, what handles hold whole. */
export function answerRoot(input: JsonObject): string {
  if (textAt(input, 'task') === 'final_answer') {
    const whole = objectsAt(input, 'handles').filter(
      (one) => one.kind === 'child' && !textAt(one, 'text').endsWith('…'),
    );
    return JSON.stringify({
      answer: whole.slice(-6).map((one) => ({ text: textAt(one, 'text'), handles: [textAt(one, 'id')] })),
    });
  }
  const failed = objectsAt(input, 'history').some((step) => textAt(step, 'failure') !== '');
  return ['```js', askCode(textAt(input, 'question'), failed), '```'].join('\n');
}

/** What is longer is a text and no question. */
const LONGEST_QUESTION = 2_000;

/** They ask, and say nothing of what is looked for. */
const IDLE: ReadonlySet<string> = new Set(
  contentStems(`answer question describe explain summarize summary overview document text chunk material content list find show name give
  quote extract tell fact claim every all main statement source many much long often mean happen happens`),
);

/** "List every fact of the log with its chunk", "the main statements of x": whatever the text says. */
const WHOLE = /\b(?:(?:all|every|each)\s+(?:\w{1,20}\s+)?facts?|main\s+statements?)\b/i;

/** Stems that an answer should share, each once. None: it asks for the whole, or in words that say nothing. */
export function questionStems(text: string): readonly string[] {
  const head = text.slice(0, LONGEST_QUESTION);
  return WHOLE.test(head) ? [] : [...new Set(contentStems(head))].filter((stem) => !IDLE.has(stem));
}

/** Best first, those near the best; rare words count more, those of the heading less. A text that shares no stem is left out. */
function rankTexts<T extends { readonly text: string; readonly under?: string }>(
  stems: readonly string[],
  texts: readonly T[],
  { near, most }: { readonly near: number; readonly most: number },
): readonly (T & { readonly score: number })[] {
  const read = texts.map(
    ({ text, under = '' }) => [new Set(contentStems(text)), new Set(contentStems(under))] as const,
  );
  const weights = stems.map((stem) => {
    const holding = read.filter(([own]) => own.has(stem)).length;
    // A number in a question is meant: of two the other one is no answer.
    return Math.log(1 + (texts.length + 1) / (holding + 1)) * (/\d/.test(stem) ? 2 : 1);
  });
  const sum = (shares: readonly number[]) => shares.reduce((left, right) => left + right, 0);
  const total = sum(weights);
  const scored = texts.map((one, at) => {
    const shareOf = (stem: string) => (read[at]?.[0].has(stem) ? 1 : read[at]?.[1].has(stem) ? 0.7 : 0);
    return { ...one, score: sum(stems.map((stem, which) => shareOf(stem) * (weights[which] ?? 0))) / total };
  });
  const best = scored.reduce((top, { score }) => Math.max(top, score), 0);
  const good = scored.filter(({ score }) => score > 0 && score >= best * near);
  return good.toSorted((left, right) => right.score - left.score).slice(0, most);
}

export type Quote = Pick<Passage, 'text' | 'tag'> & { readonly score: number };

const MOST_QUOTES = 8;
/** Beyond so many passages the rest of a text is not read by the rule; what has more characters than LONGEST is no quotation. */
const MOST_PASSAGES = 20_000;
const LONGEST = 2_000;
/** Less is chance. */
const LEAST = 0.3;

export function pickQuotes(question: string, text: string): readonly Quote[] {
  const stems = questionStems(question);
  const body = cutPassages(text)
    .slice(0, MOST_PASSAGES)
    .filter((one) => one.kind !== 'heading' && one.text.length <= LONGEST && /[\p{L}\p{N}]/u.test(one.text));
  const ranked = rankTexts(stems, body, { near: 0.55, most: MOST_QUOTES * 2 }).filter(({ score }) => score >= LEAST);
  const quotes = stems.length > 0 ? ranked : leading(body).map((one) => ({ ...one, score: 0.5 }));
  const once = distinct(quotes).slice(0, MOST_QUOTES);
  return once.map(({ text: said, tag, score }) => ({ text: said, tag, score }));
}

/** With no word to look for: what is tagged as a fact, else how each section begins. */
function leading(body: readonly Passage[]): readonly Passage[] {
  const tagged = body.filter(({ tag }) => tag !== null);
  return tagged.length > 0 ? tagged : body.filter((one, at) => one.under !== body[at - 1]?.under);
}

/** The same words once. */
function distinct<T extends { readonly text: string }>(texts: readonly T[]): readonly T[] {
  const seen = new Set<string>();
  return texts.filter(({ text }) => {
    const before = seen.size;
    return seen.add(foldText(text, 'words')).size > before;
  });
}

const COUNTING = /\bhow\s+(?:many\s+(?:times|lines)|often)\b/i;
const COUNTED = /\b(?:word|contains?|mentions?)\s+([\p{L}\p{N}_.-]{2,60})/iu;

/** `failed`: a block did; then the best lines are quoted without asking anybody. */
function askCode(question: string, failed: boolean): string {
  const [phrase = COUNTED.exec(question)?.[1]] = quotedPhrases(question);
  if (!failed && phrase !== undefined && COUNTING.test(question)) return countCode(phrase);
  const given = `const question = ${JSON.stringify(question)};\nconst words = ${JSON.stringify(searchWords(question))};`;
  return [given, SEARCH, failed ? LINES : SUB_CALLS].join('\n');
}

function countCode(phrase: string): string {
  const pattern = `(?<![\\p{L}\\p{N}])${escapeRegExp(phrase)}(?![\\p{L}\\p{N}])`;
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
  const phrases = quotedPhrases(question).map((phrase) => [phrase, escapeRegExp(phrase)] as const);
  return [...phrases, ...words.map(formsOf)].slice(0, MOST_WORDS);
}

/** "verifi" and "verify" begin with "verif". */
function formsOf(word: string): readonly [start: string, pattern: string] {
  const stem = stemWord(word).replace(/(?<=.{4})i$/, '');
  const start = stem.length > 1 && word.startsWith(stem) ? stem : word;
  return [start, `(?<![\\p{L}\\p{N}])${escapeRegExp(start)}[\\p{L}]{0,${start.length > 4 ? 8 : 3}}(?![\\p{L}\\p{N}])`];
}

// Owns the list of reflex rules for the tools of this room, and the intents `find-files`, `find-text` and `todo`. Knows no order of matching:
// the ranking decides. Invariant: a phrase is searched as it was said; an item is named by its number or by words of just one item.

import type { JsonObject } from '#base/json.ts';
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { runRule, scriptRule } from './reflex-commands.ts';
import { listRule, pathOf, pipedFile, quoteResult, readRule, spokenPath, withKnownFile } from './reflex-files.ts';
import { readTodos, type TodoItem } from './talk-tools.ts';

const FIND = '(find|locate|search for|search|look for|list|show|get|give|where are|where is|which are)';
const IN = '(in|inside|under|within|of|from|below|across)';
const EVERYWHERE =
  '[all] (files|code|project|codebase|repo|source|everywhere|these files|this project|here|this folder)';
const PLACE = `[${IN} (${EVERYWHERE}|{path:place})]`;
const KIND = '[all] [of] [my|our] {glob:glob} files';
const FILES: readonly string[] = [
  `${FIND} [all] [of] [my|our|the] {pattern:glob} [files|file|scripts|documents|sources] [there are|here] ${PLACE}`,
  `(which|what) {pattern:glob} files (are|are there|exist|do i have|do we have) [there|here] ${PLACE}`,
  `(find|locate|search for|look for|where is|where are|show) [all] [the] (file|files) (called|named|with name|with the name|whose name contains|that contain|with) {pattern:words} (in the name|in their name|in its name) ${PLACE}`,
  `(find|locate|search for|look for|where is|where are|show|is there) [all] [the|a|any] (file|files) (called|named|with name|with the name|whose name contains) {pattern:words} ${PLACE}`,
  `(where|in which folder) (is|are|do i have|did i put|lives) [my|our|the] [file] {pattern:file} [located|stored|saved]`,
  `(find|locate|look for|search for) [my|our|the] [file] {pattern:file} ${PLACE}`,
  `(is there|do we have|do i have) [a|any] [file] [called|named] {pattern:file} ${PLACE}`,
  `${FIND} [all|every|any] [my|our] (file|files) (ending in|ending with|ending on|that end in|that ends in|that end with|with extension|with ending|of type) {pattern:glob} ${PLACE}`,
  `(search|look) ${IN} (${EVERYWHERE}|{path:place}) for [a|the] (file|files) [called|named] {pattern:words}`,
  `search (${EVERYWHERE}|{path:place}) for [a|the] (file|files) [called|named] {pattern:words}`,
  `(find|locate|look for|search for) [my|our|the] {pattern:name} (file|files) ${PLACE}`,
];
const TEXTWORD =
  '[word|words|text|string|phrase|term|mentions of|mention of|occurrences of|uses of|usages of|references to|all occurrences of|all mentions of|all uses of|lines with|lines containing|every line with|every mention of|every occurrence of]';
const TEXT: readonly string[] = [
  `(grep|rg) [for] {pattern:words} ${IN} (${EVERYWHERE}|{path:place})`,
  `(grep|rg) [for] {pattern:words} [{path:place}]`,
  `(find|search|search for|look for|look up|grep for|where does it say|scan for) ${TEXTWORD} {pattern:words} ${IN} (${EVERYWHERE}|{path:place}|${KIND})`,
  `search (${EVERYWHERE}|{path:place}|${KIND}) for ${TEXTWORD} {pattern:words}`,
  `search ${IN} (${EVERYWHERE}|{path:place}|${KIND}) for ${TEXTWORD} {pattern:words}`,
  `(look|check|search) ${IN} (${EVERYWHERE}|{path:place}) for ${TEXTWORD} {pattern:words}`,
  `(which|what) [of] [the] [{glob:glob}] (files|file|lines|code) (mention|mentions|contain|contains|use|uses|import|imports|have|has|include|includes|reference|references|say|says|call|calls) ${TEXTWORD} {pattern:words} ${PLACE}`,
  `(find|show|list) [all] [the] (files|lines) [that] (mention|mentioning|contain|containing|with|use|using|having) ${TEXTWORD} {pattern:words} ${PLACE}`,
  `(show|list|find|get|give) [all] [the] lines (of|in|from) {path:file} (that|which|with|containing|mentioning) [mention|contain|have|say] {pattern:words}`,
  `where (is|are|do we|do i|does it) [the] [function|class|variable|word|text|say] {pattern:ident} [used|mentioned|defined|called|declared|imported|set|use|call|define] ${PLACE}`,
  `in (which|what) (file|files) (is|are|does it say|do we have) {pattern:words} [used|mentioned|defined]`,
  `where (is|are|do we|do i) [use|mention|define|set] {pattern:words} (used|mentioned|defined|called|declared|imported|set) ${PLACE}`,
  `(find|search|search for|look for|where is) ${TEXTWORD} {pattern:ident} ${PLACE}`,
  `(find|search for|look for) (word|words|text|string|phrase|mentions of|occurrences of|uses of|references to|all mentions of|all occurrences of) {pattern:words}`,
  `(does|do) {path:file} (mention|contain|say|include) {pattern:words}`,
];
const EITHER: readonly string[] = [`(find|search for|locate|search|look for) {pattern:words} ${PLACE}`];
/** Understood by a person, searched by nobody. */
const MEANT = /\bthe (?:bug|problem|issue|reason|answer|way|mistake|cause|culprit)s?\b/i;
/** Words that name nothing that a file could hold. */
const VAGUE =
  /^(?:it|that|this|them|something|anything|everything|out|me|way|one|job|help|information|info|(?:a|the|my) (?:way|problem|bug|issue|error|reason|answer)s?)$|^(?:all|any|every\w*|files?|folders?|where|some|\d)\b|^(?:my|our|your|this|that|these|those)\s|\b(?:how|why|whether|if)\b/i;

const findFilesRule: ReflexRule = {
  purpose: 'act',
  intent: 'find-files',
  effect: 'read',
  examples: [
    'find *.ts',
    'find all markdown files in the docs folder',
    'where is package.json',
    'find files named config',
  ],

  match(input) {
    const fit = input.fit(FILES) ?? eitherMatch(input);
    if (fit === undefined || fit.slots.pattern === '@same' || fit.slots.path === '@same') return undefined;
    if (VAGUE.test(fit.slots.pattern ?? '')) return undefined;
    return { ...fit, score: fit.slots['path.loose'] === undefined ? fit.score : 0.5, slots: withFolder(fit.slots) };
  },

  restate: ({ slots }) =>
    `find files named "${slots.pattern}"${slots.path === undefined ? '' : ` in ${spokenPath(slots.path)}`}`,

  act: ({ slots }, _input, [result]) =>
    result === undefined
      ? { type: 'call', calls: [{ name: 'search_files', arguments: fileSearch(slots) }] }
      : quoteResult(`files named ${slots.pattern}`, result),
};

/** Two words after a mere `find` may be a name or a text: the owner says which. */
function eitherMatch(input: ReflexInput): ReflexMatch | undefined {
  const fit = input.fit(EITHER);
  if (fit === undefined || input.fit(TEXT) !== undefined || (fit.slots.pattern ?? '').split(/\s+/).length > 3)
    return undefined;
  if (fit.slots.path !== undefined || fit.slots['pattern.quoted'] !== undefined) return undefined;
  return (fit.slots.pattern ?? '').includes(' ') ? { ...fit, score: 0.5 } : fit;
}

/** `docs/*.md` is `*.md` in `docs`. */
function withFolder({ pattern = '', path }: ReflexMatch['slots']): ReflexMatch['slots'] {
  const cut = pattern.lastIndexOf('/');
  const inside = cut > 0 && !pattern.slice(0, cut).includes('*');
  const folder = inside ? pattern.slice(0, cut) : path;
  return {
    pattern: inside ? pattern.slice(cut + 1) : pattern,
    ...(folder === undefined || folder === '.' ? {} : { path: folder }),
  };
}

function fileSearch({ pattern = '*', path }: ReflexMatch['slots']): Readonly<Record<string, string>> {
  return { pattern, target: 'files', ...(path === undefined || path === '.' ? {} : { path }) };
}

const findTextRule: ReflexRule = {
  purpose: 'act',
  intent: 'find-text',
  effect: 'read',
  examples: ['find TODO in the src folder', 'search for "retry" in the code', 'which files mention timeout'],

  match(input) {
    const fit = input.fit(TEXT) ?? (input.fit(FILES) === undefined ? input.fit(EITHER) : undefined);
    if (fit === undefined || fit.slots.pattern === undefined) return undefined;
    const { pattern } = fit.slots;
    const isEither = input.fit(TEXT) === undefined;
    const words = fit.slots['pattern.quoted'] === undefined ? pattern.split(/\s+/).length : 1;
    if (fit.slots['pattern.quoted'] === undefined && isNoText(pattern, input.text, isEither ? 3 : 5)) return undefined;
    const isDoubtful = (isEither && words > 1) || fit.slots['path.loose'] !== undefined;
    return inPiped(isDoubtful ? { ...fit, score: 0.5 } : fit, input);
  },

  restate({ slots }) {
    const place = slots.path === undefined || slots.path === '.' ? 'all files' : spokenPath(slots.path);
    return `find the text "${slots.pattern}" in ${slots.glob === undefined ? place : `the ${slots.glob} files`}`;
  },

  act(match, input, [result]) {
    const path = pathOf(match, input.history);
    const { pattern = '' } = match.slots;
    const isPiped = path !== undefined && path === pipedFile(input.history.at(-1));
    const place = isPiped ? 'the input' : path === undefined || path === '.' ? 'the files here' : path;
    if (result !== undefined) return quoteResult(`"${pattern}" in ${place}`, result);
    return { type: 'call', calls: [{ name: 'search_files', arguments: textSearch(match.slots, path) }] };
  },
};

/** Words that are understood rather than searched, too many, or the name of a file. */
function isNoText(pattern: string, line: string, most: number): boolean {
  if (VAGUE.test(pattern) || MEANT.test(line) || pattern.includes('*') || pattern.split(/\s+/).length > most)
    return true;
  return (
    /^\S+(?:\.\w{1,5}|\/\S*)$/.test(pattern) && !/\b(?:grep|text|word|string|mention|contain|use|import)/i.test(line)
  );
}

/** What is looked for nowhere in particular is looked for in what was piped in with the line. */
function inPiped(fit: ReflexMatch, { history }: ReflexInput): ReflexMatch {
  const path = fit.slots.path === undefined ? pipedFile(history.at(-1)) : undefined;
  return path === undefined ? withKnownFile(fit, history) : { ...fit, slots: { ...fit.slots, path } };
}

function textSearch(
  { pattern = '', glob }: ReflexMatch['slots'],
  path: string | undefined,
): Readonly<Record<string, string>> {
  return {
    pattern: asPattern(pattern),
    target: 'content',
    ...(path === undefined || path === '.' ? {} : { path }),
    ...(glob === undefined ? {} : { file_glob: glob }),
  };
}

/** A phrase that finds itself as a pattern stays as it was said; anchors and classes are written by people who mean a pattern. */
export function asPattern(text: string): string {
  try {
    if (new RegExp(`^(?:${text})$`).test(text) || /^\^|\$$|\\[bwsd]|\.[*+]|\[[^\]]+\]/i.test(text)) return text;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const LIST = '((my|our|the) list|[my|our|the] (todo|todos|to-do|to-dos|to do|tasks|task) [list|lists])';
const FORMS: readonly string[] = [
  `[show|list|read|see|open|print|display] [me] [all] [my|our] (todo|todos|to-do|to-dos|tasks|task list|todo list|to-do list|open todos|open tasks)`,
  `what is [left|still] [on|in] ${LIST}`,
  `what (are my (todos|tasks)|do i [still] have to do|is left to do)`,
  '(todo|to-do) done {done:words}',
  '(todo|to-do|todo add|add todo|add a todo|new todo|add task|new task|add a task) [:] [to] {add:rest}',
  `(add|put|append) {add:words} (to|on|onto) ${LIST}`,
  `(add|put) (to|on) ${LIST} [:] {add:rest}`,
  '(mark|set|tick) [todo|task|item|number] {done:words} [off] (as done|done|as finished|as complete|complete|finished|off|as completed)',
  '(check|tick|cross) off [todo|task|item|number] {done:words}',
  '[i am|i have|i] (done with|finished with|completed|finished) {done:words}',
  '(done|finish|complete) [todo|task|item|number] {done:number}',
  `(remove|delete|drop|take|cross) {gone:words} (from|off) ${LIST}`,
  '(remove|delete|drop) (todo|task|item) [number] {gone:words}',
];

const todoRule: ReflexRule = {
  purpose: 'memory',
  intent: 'todo',
  effect: 'home',
  examples: ['todo: call the printer', 'my todos', 'mark 1 as done'],
  match: (input) => input.fit(FORMS),

  restate({ slots: { add, done, gone } }) {
    if (add !== undefined) return `todo: ${add}`;
    if (done !== undefined) return `mark ${done} as done`;
    return gone === undefined ? 'my todos' : `remove ${gone} from my todo list`;
  },

  act(match, input, [result]) {
    if (result !== undefined) return quoteResult('todo', result);
    const { add } = match.slots;
    if (add !== undefined) return call({ todos: [{ content: add.slice(0, 500) }], merge: true });
    const named = match.slots.done ?? match.slots.gone;
    return named === undefined ? call({}) : change(named, match, input);
  },
};

function change(named: string, { slots }: ReflexMatch, { history }: ReflexInput): ReflexStep {
  const open = readTodos(history).filter(({ status }) => status !== 'cancelled');
  const found = open.filter(({ id }) => id === named.replace(/^#/, ''));
  const meant: readonly TodoItem[] =
    found.length > 0 ? found : open.filter(({ content }) => content.toLowerCase().includes(named.toLowerCase()));
  const [only, ...more] = meant;
  if (only === undefined) return { type: 'say', text: `No item of the todo list is "${named}".` };
  const verb = (id: string) => (slots.done === undefined ? `remove ${id} from my todo list` : `mark ${id} as done`);
  if (more.length > 0)
    return { type: 'ask', question: 'Which item?', choices: meant.slice(0, 4).map(({ id }) => verb(id)) };
  return call({ todos: [{ id: only.id, status: slots.done === undefined ? 'cancelled' : 'completed' }], merge: true });
}

function call(given: JsonObject): ReflexStep {
  return { type: 'call', calls: [{ name: 'todo', arguments: given }] };
}

export const toolRules: readonly ReflexRule[] = [
  runRule,
  scriptRule,
  listRule,
  readRule,
  findFilesRule,
  findTextRule,
  todoRule,
];

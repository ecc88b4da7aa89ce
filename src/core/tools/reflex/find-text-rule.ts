// Owns the intent `find text`: a word or phrase in the files of a place.
// Invariant: a phrase is searched as it was said; it becomes an escaped pattern only where it would mean something else.
import type { ReflexMatch, ReflexRule } from '#core/agent/reflex-rule.ts';
import { quoteResult, spokenPath } from './answers.ts';
import { forms } from './english.ts';
import { resolvePath } from './history.ts';

export const findTextRule: ReflexRule = {
  purpose: 'act',
  intent: 'find-text',
  effect: 'read',
  examples: [
    'find TODO in src',
    'search for "retry" in the code',
    'which files mention timeout',
    'where is loadConfig used',
  ],

  match(input) {
    const found = input.fit(forms.findText);
    const resolved = found === undefined ? undefined : resolvePath(found, input.history);
    if (resolved === undefined) return undefined;
    const fit = bareText(resolved);
    return { ...fit, score: fit.score * shapeOf(fit, input.text) };
  },

  restate({ slots }) {
    const kind = slots.glob === undefined ? '' : `${slots.glob} files in `;
    return `find the text "${slots.pattern}" in ${kind}${slots.path === undefined || slots.path === '' ? 'all files' : spokenPath(slots.path)}`;
  },

  act(match, _input, results) {
    const { pattern = '', path = '' } = match.slots;
    const [result] = results;
    if (result !== undefined) return quoteResult(`"${pattern}" in ${path === '' ? 'the files here' : path}`, result);
    return { type: 'call', calls: [{ name: 'search_files', arguments: textSearch(match) }] };
  },
};

const LEAD =
  /^(?:(?:-\w+\s+)+|(?:function|class|variable|constant|method|interface|symbol|component|hook|endpoint|word|string|text|phrase|term|flag|setting|option)\s+(?=\S+$))/i;

/** `-i "warning"` and `function handleSubmit`: the text itself. */
function bareText(match: ReflexMatch): ReflexMatch {
  const { pattern = '' } = match.slots;
  const bare = match.slots['pattern.quoted'] === undefined ? pattern.replace(LEAD, '') : pattern;
  if (bare === pattern || bare === '') return match;
  const quoted = /^(["'`])(.+)\1$/.exec(bare)?.[2];
  const marks: Readonly<Record<string, string>> = quoted === undefined ? {} : { 'pattern.quoted': 'yes' };
  return { ...match, slots: { ...match.slots, ...marks, pattern: quoted ?? bare } };
}

export function textSearch({ slots }: ReflexMatch): Readonly<Record<string, string>> {
  return {
    pattern: asPattern(slots.pattern ?? ''),
    target: 'content',
    ...(slots.path === undefined || slots.path === '' || slots.path === '.' ? {} : { path: slots.path }),
    ...(slots.glob === undefined ? {} : { file_glob: slots.glob }),
  };
}

/** A phrase that finds itself as a pattern stays as it was said. */
export function asPattern(text: string): string {
  try {
    const pattern = new RegExp(`^(?:${text})$`);
    if (pattern.test(text) || REGULAR.test(text)) return text;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return escapeText(text);
}

/** Anchors and classes are written by people who mean a pattern. */
const REGULAR = /^\^|\$$|\\[bwsdBWSD]|\.[*+]|\[[^\]]+\]/;

function escapeText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Names of code and marked phrases are searched; plain words only where a path says that files are meant. */
export function shapeOf({ slots }: ReflexMatch, text: string): number {
  const { pattern = '', path } = slots;
  if (slots['pattern.quoted'] !== undefined) return isNamedFile(text, pattern) ? UNSURE : 1;
  if (isTalk(text, pattern)) return UNSURE;
  if (isMarked(text, pattern)) return 1;
  if (FILE_NAME.test(pattern) || isOwned(text, pattern)) return UNSURE;
  if (isCodeName(pattern)) return 1;
  const words = wordCount(pattern);
  const placed = slots.glob !== undefined || path === '' || slots['path.sure'] !== undefined;
  return placed && words < 4 && !isDefinite(text, pattern) ? 0.95 - 0.03 * (words - 1) : UNSURE;
}

/** A sentence, a kind of file, something to be understood, what people do, a command line of its own. */
function isTalk(text: string, pattern: string): boolean {
  const words = wordCount(pattern);
  if (words > 5 || NO_PATTERN.test(pattern) || PEOPLE.test(text)) return true;
  return isKind(text, pattern) || isUnderstood(text, pattern) || (GREP_LINE.test(text) && words > 1);
}

function wordCount(pattern: string): number {
  return pattern.split(/\s+/).length;
}

/** `find "Annual Review.pptx"`: a file, unless the line says that it is a text. */
function isNamedFile(text: string, pattern: string): boolean {
  return FILE_NAME.test(pattern) && !isMarked(text, pattern) && !/\b(?:search|grep|text|word|line)\b/i.test(text);
}

function isUnderstood(text: string, pattern: string): boolean {
  return UNDERSTOOD.test(pattern) || (/\bcheck\b/i.test(text) && /\berrors?$/i.test(pattern));
}

const UNSURE = 0.58;
/** A command line of its own: its last words are places. */
const GREP_LINE = /^\W*(?:grep|rg|ag|ack)\s+-/i;
/** People use and mention things elsewhere than in files. */
const PEOPLE =
  /^\W*(?:do|does|did|has|have|is|are|can|will|would|should|why (?:do|does)|when (?:do|does)) (?:anyone|anybody|someone|somebody|everyone|everybody|people|nobody|no one|they|he|she|most people|some people|developers|programmers|users|kids)\b/i;
/** More likely a file than a text. */
const FILE_NAME =
  /^(?!console\.|process\.)[\w@./-][\w@./ -]*\.(?:docx?|xlsx?|pptx?|odt|ods|rtf|[cm]?[jt]sx?|json|md|ya?ml|toml|txt|py|rs|go|css|s[ac]ss|html?|sh|sql|csv|xml|lock|env|ini|cfg|conf|java|rb|php|c|h|cpp|pdf|png|jpe?g|svg|zip|log)$/i;
/** A glob, a part of a question, or files by name: nothing to look for in the text of files. */
export const NO_PATTERN =
  /\*|^(?:used|mentioned|defined|called|written|located|set|declared|imported)\b|^(?:find|search|look|grep|locate|show|list|open|read|appears?|occurs?|says?|said|means?|words?|strings?|phrases?|texts?|names|sentences?)$|^(?:the )?(?:first|last|top|bottom|final|next|previous)\b|^lines?\b|,\s|^(?:heck|hell|fuck|devil)\b|^(?:(?:something|anything|everything|nothing|stuff|things?|someone|anyone|somewhere|whatever)$|(?:too|many|much|more|fewer|most|least|enough|never|always|often|sometimes|usually|keeps?|scares?|confuses?|hates?|loves?|fails|failed|finds|found|takes|took|ate|had|did|would)\b)|^(?:for$|4 me\b|4 us\b|where|which|who|when|and|or|to|if|how|why|what|me|you|it|that|this|is|are|was|were|has|does|can|will|should)\b|\bfiles?$|^(?:all )?(?:the )?files? (?:ending|with|named|called|of)\b|^(?:ending|extension|suffix)\b|^\.\w+ (?:extension|ending|suffix|files?)\b|\band (?:fix|explain|tell|rename|replace|remove|delete|change|summar|refactor|sort|write|open|move|copy)/i;

/** What only somebody who understands can find. */
const UNDERSTOOD =
  /\b(?:bugs?|leaks?|holes?|vulnerabilit(?:y|ies)|mistakes?|typos?|smells?|bottlenecks?|problems?|issues?|flaws?|weakness(?:es)?|redundanc(?:y|ies)|duplicates?|unused|dead code|race conditions?|inefficienc(?:y|ies)|improvements?|reasons?|inspiration|meaning|ways?|answers?|solutions?|security)$|^(?:unused|best|better|cheap|good|wrong|slow|redundant|duplicate|unnecessary|insecure|suspicious|bad|missing)\b/i;

/** `PNG images`: a kind of file. */
function isKind(text: string, pattern: string): boolean {
  const at = text.indexOf(pattern);
  return (
    at >= 0 &&
    /^\s+(?:files?|images?|documents?|scripts?|pictures?|photos?|sources)\b/i.test(text.slice(at + pattern.length))
  );
}

/** `the word X`, `mentions of X`: the line says itself that X is text. */
function isMarked(text: string, pattern: string): boolean {
  const before = text.slice(0, Math.max(0, text.indexOf(pattern)));
  return (
    /\b(?:words?|strings?|text|phrase|term|pattern|grep(?: for)?|rg|contain(?:s|ing)?|mentions?(?: of)?|mentioning|imports?|importing|uses?|using|calls?|calling|requires?|references?|defines?|extends?|occurrences? of|references? to|uses? of|usages? of|says?|comments?|talks? about|refers? to)\s+(?:the\s+)?$/i.test(
      before,
    ) ||
    /\b(?:mentioned|comments|defined|called|imported|referenced|declared|implemented|exported)\b/i.test(
      text.slice(before.length + pattern.length),
    )
  );
}

/** `find my iPhone`: the owner's thing, not a word. */
function isOwned(text: string, pattern: string): boolean {
  return /\bmy\s+$/i.test(text.slice(0, Math.max(0, text.indexOf(pattern)))) && /^\p{L}+$/u.test(pattern);
}

function isCodeName(pattern: string): boolean {
  return /[_$(){}<>#=:/\\@.\d]|[a-z][A-Z]|^[A-Z]{2,}/.test(pattern);
}

/** `find the bug in …`: a thing to be understood, not a word to be found. */
function isDefinite(text: string, pattern: string): boolean {
  if (/^\W*(?:is there|are there|do (?:we|you|i) have|have (?:we|you) got)\b/i.test(text) && !pattern.includes(' '))
    return false;
  return new RegExp(`\\b(?:the|a|an|my)\\s+${escapeText(pattern)}`, 'i').test(text) && /^[a-z ]+$/.test(pattern);
}

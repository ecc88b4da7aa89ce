// Owns the checks of a SKILL.md that need its text alone: the cheap stage of verification and the built-in verifier of files (seed 002; curator
// notes 11.3, 14), and why a front matter is no YAML mapping, in the words of the original's reader. Invariant: every failure is named, in order.
import { basename } from 'node:path';
import { type Document, isMap, isScalar, isSeq, parseAllDocuments, visit } from 'yaml';
import { isJsonObject } from '#base/json.ts';
import { codeLength } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import { utf8Text } from '#mind/skills/door/skill-tree.ts';
import { readYaml } from '#mind/skills/format/parse-skill.ts';
import { countOf, END_MARKER, START_MARKER } from '#mind/skills/format/skill-text.ts';
import { HARD_LIMIT } from './prepare-update.ts';

/**
 * The cheap stage of verification (seed 002, builtin-structural; notes 11.3). In: the text of a SKILL.md. Out: whether it passed, and in
 * the notes' order what failed: size over 100,000 code points, markers unbalanced, doubled or reversed, front matter that is no YAML
 * mapping, with the class of the YAML fault. The same for ours and the original. Throws nothing.
 */
export function structuralCheck(
  text: string,
  _options: CompatOptions = {},
): { readonly passed: boolean; readonly failures: readonly string[] } {
  const size = codeLength(text);
  const endsBefore = countOf(text, START_MARKER) === 1 && text.indexOf(END_MARKER) < text.indexOf(START_MARKER);
  const fault = frontMatterFault(text);
  const failures = [
    ...(size > HARD_LIMIT ? [`over-hard-cap:${size}>${HARD_LIMIT}`] : []),
    ...markerFailures(text),
    ...(endsBefore ? ['managed-block-end-before-start'] : []),
    ...(fault === null ? [] : [fault]),
  ];
  return { passed: failures.length === 0, failures };
}

function markerFailures(text: string): readonly string[] {
  const starts = countOf(text, START_MARKER);
  const ends = countOf(text, END_MARKER);
  return [
    ...(starts === ends ? [] : [`unbalanced-managed-block-markers:${starts}!=${ends}`]),
    ...(starts > 1 ? [`duplicate-managed-block:${starts}`] : []),
  ];
}

/** A text without front matter passes this part. */
function frontMatterFault(text: string): HeaderFault {
  if (!text.startsWith('---')) return null;
  const header = headerOf(text);
  return header === undefined ? 'frontmatter-not-parseable' : headerFault(header);
}

/** Between a first line of three dashes and the next one, which may be the last line of the text. */
function headerOf(text: string): string | undefined {
  const lines = text.split(/\r\n?|\n/);
  if (!/^---[ \t]*$/.test(lines[0] ?? '')) return undefined;
  const close = lines.findIndex((line, at) => at > 0 && /^---[ \t]*$/.test(line));
  return close === -1 ? undefined : lines.slice(1, close).join('\n');
}

export interface SkillFileInput {
  readonly path: string;
  /** null: there is no file at the path. */
  readonly bytes: Uint8Array | null;
  /** Why there are no bytes although something is there. */
  readonly fault?: string;
}

type SkillFilesVerdict = ReturnType<typeof validateSkillFiles>;

/** `ok` is false too when nothing was checked. */
export function validateSkillFiles(files: readonly SkillFileInput[], targetFromEnv = false) {
  const results = files.map(validateSkillFile);
  const ok = results.length > 0 && results.every((result) => result.ok);
  return { ok, checked: results.length, target_from_env: targetFromEnv, results };
}

export function validateSkillFile({ path, bytes, fault = 'file-not-found' }: SkillFileInput) {
  const text = bytes === null ? undefined : utf8Text(bytes);
  const { name = null, description_present = false, errors } = readFields(text);
  const faults = [
    ...(basename(path) === 'SKILL.md' ? [] : ['file-name-not-skill-md']),
    ...(text?.includes('\0') ? ['contains-nul'] : []),
    ...errors,
    ...markerFailures(text ?? ''),
  ];
  const shown = bytes === null ? [fault] : faults;
  const auto_block_count = countOf(text ?? '', START_MARKER);
  return { path, ok: shown.length === 0, name, description_present, auto_block_count, errors: shown };
}

interface Fields {
  readonly name?: string | null;
  readonly description_present?: boolean;
  readonly errors: readonly string[];
}

function readFields(text: string | undefined): Fields {
  if (text === undefined) return { errors: ['not-utf-8'] };
  if (!text.startsWith('---')) return { errors: ['missing-frontmatter'] };
  const header = headerOf(text);
  if (header === undefined) return { errors: ['unclosed-frontmatter'] };
  const fault = headerFault(header);
  if (fault !== null) return { errors: [fault] };
  const read = readYaml(header);
  if (!read.ok || !isJsonObject(read.value)) return { errors: ['frontmatter-not-mapping'] };
  const [name = null, description = null] = [read.value.name, read.value.description].map((value) =>
    typeof value === 'string' && value.trim() !== '' ? value : null,
  );
  const errors = [...(name === null ? ['missing-name'] : []), ...(description === null ? ['missing-description'] : [])];
  return { name, description_present: description !== null, errors };
}

/** The text form: one line a file. */
export function skillFilesText({ ok, checked, results }: SkillFilesVerdict): string {
  if (checked === 0) return 'Nothing to check: no SKILL.md was found.';
  const lines = results.map((one) => `${one.ok ? '✓' : '✗'} ${one.path}${one.ok ? '' : `: ${one.errors.join(', ')}`}`);
  const bad = results.filter((one) => !one.ok).length;
  return [...lines, ok ? `${checked} checked, all in order` : `${checked} checked, ${bad} with faults`].join('\n');
}

/** null: parseable. */
type HeaderFault = `frontmatter-not-parseable${'' | `:${string}`}` | 'frontmatter-not-mapping' | null;

/** Control characters that no YAML text may hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the rule is about
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\uFFFE\uFFFF]/;

/** Begins with a colon, a directive or the end of the document. */
const NAMELESS = /^(?: *(?:#[^\n]*)?\n)*(?:(?: *:|\.\.\.)(?:\s|$)|%)/;

/** More than any header has; the package recurses on them. */
const MOST_BRACKETS = 2000;

/** `header`: the text between the fences. An empty one is no fault. */
function headerFault(header: string): HeaderFault {
  if (FORBIDDEN.test(header)) return unparseable('ReaderError');
  if (NAMELESS.test(header)) return unparseable('ParserError');
  const documents = parseHeader(header);
  if (documents === undefined) return unparseable('ParserError');
  const [document, ...more] = documents;
  if (document === undefined) return null;
  const fault = documentFault(document, header) ?? moreFault(more);
  if (fault !== null) return unparseable(fault);
  const { contents } = document;
  return contents === null || isMap(contents) || contents.toJSON() === null ? null : 'frontmatter-not-mapping';
}

function unparseable(errorName: string): HeaderFault {
  return `frontmatter-not-parseable:${errorName}`;
}

/** undefined when it nests deeper than the reader can follow. */
function parseHeader(header: string): readonly Document[] | undefined {
  if ((header.match(/[[{]/g)?.length ?? 0) > MOST_BRACKETS) return undefined;
  try {
    const options = {
      strict: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
      version: '1.1',
    } as const;
    return [...parseAllDocuments(header, options)] as readonly Document[];
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Only one document is read; another needs its own first line, and without anything in it is none. */
function moreFault(documents: readonly Document[]): string | null {
  const next = documents.find(({ contents, directives }) => contents !== null || directives?.docStart === true);
  if (next === undefined) return null;
  return next.directives?.docStart === true ? 'ComposerError' : 'ParserError';
}

function documentFault(document: Document, header: string): string | null {
  if (document.errors.length > 0) return errorClass(document.errors);
  if (document.warnings.some(({ code }) => code === 'BAD_DIRECTIVE')) return 'ParserError';
  if (document.warnings.some(({ code }) => code === 'TAG_RESOLVE_FAILED')) return 'ConstructorError';
  return nodeFault(document, header) ?? constructionFault(document);
}

/** What the package reads and the original's reader does not: a name given twice or never, a key that is no scalar or missing. */
function nodeFault(document: Document, header: string): string | null {
  const anchors = new Set<string>();
  let composed: string | null = null;
  let keys: string | null = null;
  visit(document, {
    Pair(_key, { key }) {
      if (isMap(key) || isSeq(key)) keys ??= 'ConstructorError';
      else if (isMissing(key, header)) composed ??= 'ParserError';
    },
    Alias(_key, { source }) {
      if (!anchors.has(source)) composed ??= PLAIN_NAME.test(source) ? 'ComposerError' : 'ScannerError';
    },
    Value(_key, { anchor }) {
      if (anchor === undefined) return;
      if (anchors.has(anchor)) composed ??= 'ComposerError';
      anchors.add(anchor);
    },
  });
  return composed ?? keys;
}

const PLAIN_NAME = /^[\w-]+$/;

/** Whether a line begins with the colon. */
function isMissing(key: unknown, header: string): boolean {
  if (!isScalar(key) || key.value !== null || key.anchor !== undefined || key.tag !== undefined) return false;
  const at = key.range?.[0] ?? 0;
  return header[at] === ':' && /^[ -]*$/.test(header.slice(header.lastIndexOf('\n', at - 1) + 1, at));
}

/** Complaints that the original's scanner has before its parser sees anything. */
const SCANNED: readonly (readonly [code: string, message: RegExp])[] = [
  ['BLOCK_AS_IMPLICIT_KEY', /./],
  ['TAB_AS_INDENT', /./],
  ['BAD_DQ_ESCAPE', /./],
  ['BAD_SCALAR_START', /^(?!.*flow indicator)/],
  ['MULTILINE_IMPLICIT_KEY', /./],
  ['BAD_ALIAS', /./],
  ['MISSING_CHAR', /quote|Implicit map keys/],
  ['UNEXPECTED_TOKEN', /Block scalar header|block-seq-ind on same line|Not a YAML token: [^:{}[\],]/],
];

function errorClass([first, second]: Document['errors']): string {
  const isListInMapping = first?.code === 'MULTILINE_IMPLICIT_KEY' && /block-seq-ind/.test(second?.message ?? '');
  const isScanned = SCANNED.some(([code, message]) => code === first?.code && message.test(first.message));
  return isScanned && !isListInMapping ? 'ScannerError' : 'ParserError';
}

function constructionFault(document: Document): string | null {
  try {
    document.toJS({ maxAliasCount: 100 });
    return null;
  } catch (error) {
    return error instanceof ReferenceError ? 'ComposerError' : 'ConstructorError';
  }
}

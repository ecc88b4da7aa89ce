// Owns why a front matter is no YAML mapping, in the words of the original's reader (curator notes 11.3). Pure. YAML itself is read by the
// package; the classes are those that the original's reader names for the same text.
import { type Document, isMap, isScalar, isSeq, parseAllDocuments, visit } from 'yaml';

/** null: parseable. */
export type HeaderFault = `frontmatter-not-parseable${'' | `:${string}`}` | 'frontmatter-not-mapping' | null;

/** Control characters that no YAML text may hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the rule is about
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\uFFFE\uFFFF]/;

/** Begins with a colon, a directive or the end of the document. */
const NAMELESS = /^(?: *(?:#[^\n]*)?\n)*(?:(?: *:|\.\.\.)(?:\s|$)|%)/;

/** More than any header has; the package recurses on them. */
const MOST_BRACKETS = 2000;

/** `header`: the text between the fences. An empty one is no fault. */
export function headerFault(header: string): HeaderFault {
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
    return [
      ...parseAllDocuments(header, {
        strict: true,
        uniqueKeys: false,
        prettyErrors: false,
        logLevel: 'silent',
        version: '1.1',
      }),
    ] as readonly Document[];
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
  const complaints = document.errors.map(({ code, message }) => ({ code, message }));
  if (complaints.length > 0) return errorClass(complaints);
  if (document.warnings.some(({ code }) => code === 'BAD_DIRECTIVE')) return 'ParserError';
  if (document.warnings.some(({ code }) => code === 'TAG_RESOLVE_FAILED')) return 'ConstructorError';
  return nodeFault(document, header) ?? constructionFault(() => document.toJS({ maxAliasCount: 100 }));
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

interface Complaint {
  readonly code: string;
  readonly message: string;
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

function errorClass(complaints: readonly Complaint[]): string {
  const [first, second] = complaints;
  const isListInMapping = first?.code === 'MULTILINE_IMPLICIT_KEY' && /block-seq-ind/.test(second?.message ?? '');
  const isScanned = SCANNED.some(([code, message]) => code === first?.code && message.test(first.message));
  return isScanned && !isListInMapping ? 'ScannerError' : 'ParserError';
}

function constructionFault(construct: () => unknown): string | null {
  try {
    construct();
    return null;
  } catch (error) {
    return error instanceof ReferenceError ? 'ComposerError' : 'ConstructorError';
  }
}

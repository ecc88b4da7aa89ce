// Owns config.yaml as YAML: text to data with the place of each key, and edits that keep comments and unknown keys. Loaded with its library when a
// file has to be read anew. Knows no setting. Invariant: text that is no YAML is an error that names line, column and the nearest key.
import { type Document, isCollection, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { errorText, TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

/** `:line:column` of each key, by the keys as JSON. */
export type Positions = Readonly<Record<string, string>>;

export interface ConfigEdit {
  readonly path: readonly string[];
  /** Undefined removes it. Worked out of what stands there when it depends on it: another process may have changed that. */
  readonly value: JsonValue | undefined | ((present: JsonValue | undefined) => JsonValue | undefined);
}

/** Throws TalariaError `config-invalid` naming line, column and the key that the trouble stands at. */
export function parseConfigText(
  path: string,
  text: string,
): { readonly data: JsonObject; readonly positions: Positions } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const error = document.errors[0];
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw unreadable(`${path}:${line}:${col}: ${keyAtLine(text, line)}: ${error.message}`);
  }
  const data = plainData(path, document);
  if (!isJsonObject(data)) throw unreadable(`${path}:1:1: the file: expected keys with values`);
  return { data, positions: positionsIn(document, lines) };
}

function plainData(path: string, document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    // An alias without its anchor, or too many of them: the reader gives no position.
    throw unreadable(`${path}:1:1: the file: ${errorText(error)}`);
  }
}

/** A group stands at its name: that is what a person looks for. */
function positionsIn(document: Document.Parsed, lines: LineCounter): Positions {
  const positions: Record<string, string> = { '[]': ':1:1' };
  const note = (keys: readonly string[], value: unknown, key: unknown): void => {
    const shown = isCollection(value) ? key : value;
    const { line, col } = lines.linePos((isNode(shown) && shown.range?.[0]) || 0);
    positions[JSON.stringify(keys)] = `:${line}:${col}`;
    visit(keys, value);
  };
  const visit = (keys: readonly string[], node: unknown): void => {
    for (const { name, value, key } of childrenOf(node)) note([...keys, name], value, key);
  };
  visit([], document.contents);
  return positions;
}

function childrenOf(node: unknown) {
  if (isSeq(node)) return node.items.map((item, at) => ({ name: String(at), value: item, key: item }));
  return (isMap(node) ? node.items : []).flatMap(({ key, value }) =>
    isScalar(key) ? [{ name: String(key.value), value: value ?? key, key }] : [],
  );
}

/** The nearest key at or above a line: what a person looks for when the text itself is broken. */
function keyAtLine(text: string, line: number): string {
  const above = text.split('\n').slice(0, line).reverse();
  for (const candidate of above) {
    const key = /^\s*(?:-\s+)?["']?([\w.-]+)["']?\s*:/.exec(candidate)?.[1];
    if (key !== undefined) return key;
  }
  return 'the file';
}

function unreadable(message: string): TalariaError {
  return new TalariaError(message, { code: 'config-invalid', fix: 'Correct this line; the file was not changed.' });
}

/** `empty`: what stands in a file that holds nothing. */
export function editedDocument(text: string, edits: readonly ConfigEdit[], empty: JsonObject): Document {
  const document: Document = parseDocument(text);
  if (document.contents === null) document.contents = document.createNode(empty);
  for (const { path: keys, value } of edits) {
    const old: unknown = document.getIn(keys, true);
    const present = () => (isNode(old) ? (old.toJS(document) as JsonValue) : undefined);
    const next = typeof value === 'function' ? value(present()) : value;
    if (next === undefined) document.deleteIn(keys);
    // A value in its old place keeps the comment beside it.
    else if (isScalar(old) && typeof next !== 'object') old.value = next;
    else document.setIn(keys, document.createNode(next));
  }
  return document;
}

// Owns config.yaml as text with positions. Knows no key.
// Invariant: every fault is an error that names line, column and the key it stands at.
import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { errorText, TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';

export interface ParsedConfig {
  readonly data: JsonObject;
  /** `path:line:column` of a key, or of its nearest parent that the file has. */
  readonly locate: (keys: readonly string[]) => string;
}

/** Throws TalariaError `config-invalid` naming line, column and the key that the trouble stands at. */
export function parseConfigText(path: string, text: string): ParsedConfig {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const error = document.errors[0];
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw invalid(`${path}:${line}:${col}: ${keyAtLine(text, line)}: ${error.message}`);
  }
  const data = plainData(path, document);
  if (!isJsonObject(data)) throw invalid(`${path}:1:1: the file: expected keys with values`);
  const locate = (keys: readonly string[]) => {
    const { line, col } = lines.linePos(offsetOf(document, keys));
    return `${path}:${line}:${col}`;
  };
  return { data, locate };
}

function plainData(path: string, document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    // An alias without its anchor, or too many of them: the reader gives no position.
    throw invalid(`${path}:1:1: the file: ${errorText(error)}`);
  }
}

function offsetOf(document: Document.Parsed, keys: readonly string[]): number {
  for (let depth = keys.length; depth > 0; depth -= 1) {
    const node = document.getIn(keys.slice(0, depth), true);
    // A group begins below its name: its name is what a person looks for.
    const shown = isCollection(node) ? (keyNode(document, keys.slice(0, depth)) ?? node) : node;
    if (isNode(shown) && shown.range) return shown.range[0];
  }
  return 0;
}

function keyNode(document: Document.Parsed, keys: readonly string[]): unknown {
  const parent = keys.length === 1 ? document.contents : document.getIn(keys.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  return parent.items.find(({ key }) => isScalar(key) && String(key.value) === keys.at(-1))?.key;
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

function invalid(message: string): TalariaError {
  return new TalariaError(message, { code: 'config-invalid', fix: 'Correct this line; the file was not changed.' });
}

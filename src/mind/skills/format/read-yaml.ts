// Owns turning YAML text into plain JSON data. The one file of this room that loads the YAML package: callers import it lazily.
// Invariant: never throws; no tag, anchor or key can make anything but data; a number that would not read back as it was written
// (1.10, 007, a long id) stays text, so that versions survive.
import { type Document, isAlias, isScalar, parseDocument, visit } from 'yaml';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';

/** Deeper data is cut: no skill needs it, and every reader below may recurse. */
const DEEPEST = 24;
/** Aliases that are followed in one text. */
const MOST_ALIASES = 50;
/** Brackets that may be open at once: the parser recurses on them. */
const MOST_OPEN = 200;

export interface ReadYamlOptions {
  /** Refuses what the parser could read although YAML forbids it, double keys among it. */
  readonly strict?: boolean;
}

export function readYaml(text: string, options: ReadYamlOptions = {}): Result<JsonValue, 'invalid-yaml'> {
  const strict = options.strict ?? false;
  if (opensTooMuch(text)) return refuse('invalid-yaml', 'It nests too deep.');
  try {
    const document = parseDocument(text, { strict, uniqueKeys: strict, prettyErrors: false, logLevel: 'silent' });
    const [error] = document.errors;
    if (error) return refuse('invalid-yaml', firstLine(error.message));
    keepWritten(document);
    return ok(plain(document.toJS({ maxAliasCount: MOST_ALIASES }), 0));
  } catch (error) {
    return refuse('invalid-yaml', firstLine(error instanceof Error ? error.message : String(error)));
  }
}

function opensTooMuch(text: string): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) open += 1;
    else if ((code === 0x5d || code === 0x7d) && open > 0) open -= 1;
    if (open > MOST_OPEN) return true;
  }
  return false;
}

function keepWritten(document: Document): void {
  visit(document, {
    Scalar(_key, node) {
      if (isAlias(node) || !isScalar(node)) return;
      const { value, source } = node;
      const isNumber = typeof value === 'number' || typeof value === 'bigint';
      if (isNumber && source !== undefined && String(value) !== source) node.value = source;
    },
  });
}

function plain(value: unknown, depth: number): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (depth >= DEEPEST || value === undefined) return null;
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (typeof value !== 'object') return String(value);
  return plainObject(value, depth);
}

function plainObject(value: object, depth: number): JsonObject {
  const entries = Object.entries(value)
    .filter(([key]) => key !== '__proto__')
    .map(([key, item]) => [key, plain(item, depth + 1)] as const);
  return Object.fromEntries(entries);
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').trim();
}

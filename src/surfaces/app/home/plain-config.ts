// Owns reading the plain case of config.yaml without the YAML reader, which takes longer to load than all else of the configuration: keys
// with indented keys, one-line scalars, lists of those, comments. Knows no key.
// Invariant: it gives what config-document.ts gives for the same text, values and places, or it gives nothing.
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { ParsedConfig } from './config-document.ts';

interface Line {
  /** From 1. */
  readonly number: number;
  /** Spaces before the key or the dash. */
  readonly indent: number;
  /** Undefined: an item of a list. */
  readonly key?: string;
  readonly value?: Scalar;
  /** Column of the value, from 1. */
  readonly column: number;
}

type Scalar = string | number | boolean;

/** Undefined: the text has more in it than this reads, or a fault; the YAML reader has the say then. */
export function parsePlainConfig(path: string, text: string): ParsedConfig | undefined {
  const lines = readLines(text);
  if (lines === undefined || lines.length === 0) return undefined;
  const reading = { lines, at: 0, places: new Map<string, string>() };
  const data = readMap(reading, [], 0);
  if (data === undefined || reading.at < lines.length) return undefined;
  const { places } = reading;
  const locate = (keys: readonly string[]): string => {
    for (let depth = keys.length; depth > 0; depth -= 1) {
      const place = places.get(nameOf(keys.slice(0, depth)));
      if (place !== undefined) return `${path}:${place}`;
    }
    return `${path}:1:1`;
  };
  return { data, locate };
}

const KEY_LINE = /^( *)([A-Za-z][\w-]*):(?:( +)(\S.*?))? *$/;
const ITEM_LINE = /^( *)-( +)(\S.*?) *$/;
/** Words that YAML reads as something else than text in some spelling. */
const WORDS = /^(?:true|false|null)$/i;

function readLines(text: string): readonly Line[] | undefined {
  const lines: Line[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    if (/^ *(?:#[\x20-\x7e]*)?$/.test(content)) continue;
    const line = readLine(content, index + 1);
    if (line === undefined) return undefined;
    lines.push(line);
  }
  return lines;
}

function readLine(content: string, number: number): Line | undefined {
  const [, indent = '', key, gap = '', word] = KEY_LINE.exec(content) ?? [];
  if (key !== undefined) {
    if (WORDS.test(key)) return undefined;
    const place = { number, indent: indent.length, key, column: indent.length + key.length + gap.length + 2 };
    if (word === undefined) return place;
    const value = readScalar(word);
    return value === undefined ? undefined : { ...place, value };
  }
  const [, before = '', space = '', item] = ITEM_LINE.exec(content) ?? [];
  const value = item === undefined ? undefined : readScalar(item);
  if (value === undefined) return undefined;
  return { number, indent: before.length, value, column: before.length + space.length + 2 };
}

/** Whole words of safe characters; what YAML could read otherwise is left to it. */
function readScalar(word: string): Scalar | undefined {
  if (word === 'true' || word === 'false') return word === 'true';
  if (/^(?:0|[1-9]\d{0,14}|\d{1,9}\.\d{1,6})$/.test(word)) return Number(word);
  if (/^[A-Za-z/](?:[\w ./@+-]|:(?=[\w/]))*$/.test(word) && !WORDS.test(word)) return word;
  if (/^\$\{\w+\}$/.test(word)) return word;
  const [, quoted] = /^"([\x20\x21\x23-\x5b\x5d-\x7e]*)"$/.exec(word) ?? [];
  return quoted;
}

interface Reading {
  readonly lines: readonly Line[];
  at: number;
  /** Where the value of a path of keys begins: `line:column`. */
  readonly places: Map<string, string>;
}

function readMap(reading: Reading, above: readonly string[], indent: number): JsonObject | undefined {
  const map: Record<string, JsonValue> = {};
  for (let line = reading.lines[reading.at]; line?.indent === indent; line = reading.lines[reading.at]) {
    const { key } = line;
    if (key === undefined || Object.hasOwn(map, key)) return undefined;
    reading.at += 1;
    const keys = [...above, key];
    const value = line.value ?? readBelow(reading, keys, indent);
    if (value === undefined) return undefined;
    if (line.value !== undefined) reading.places.set(nameOf(keys), `${line.number}:${line.column}`);
    map[key] = value;
  }
  return map;
}

/** What stands under a key without a value of its own; a list may stand as far left as the key. */
function readBelow(reading: Reading, keys: readonly string[], indent: number): JsonValue | undefined {
  const first = reading.lines[reading.at];
  const isList = first !== undefined && first.key === undefined;
  if (first === undefined || first.indent < indent || (first.indent === indent && !isList)) return undefined;
  reading.places.set(nameOf(keys), `${first.number}:${first.indent + 1}`);
  return isList ? readList(reading, keys, first.indent) : readMap(reading, keys, first.indent);
}

function readList(reading: Reading, keys: readonly string[], indent: number): readonly JsonValue[] {
  const items: JsonValue[] = [];
  for (let line = reading.lines[reading.at]; line?.indent === indent; line = reading.lines[reading.at]) {
    if (line.key !== undefined || line.value === undefined) break;
    reading.places.set(nameOf([...keys, String(items.length)]), `${line.number}:${line.column}`);
    items.push(line.value);
    reading.at += 1;
  }
  return items;
}

function nameOf(keys: readonly string[]): string {
  return keys.join('\0');
}

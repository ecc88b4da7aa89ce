// Owns which texts of a skill's header are claimed: every new value, however it is written. Reads parsed fields; knows no YAML.
// Invariants: name, version, license and the mark of a program as author are form, when they look like it; what a skill may use or asks
// for is a grant, which only the owner's words give; prose that only the loader shows belongs to the body.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { foldText } from '../trace-guard/fold-text.ts';
import { addedParts } from './added-entries.ts';

/** A SKILL.md as its loader reads it. */
export interface ReadSkill {
  readonly frontmatter: JsonObject;
  readonly body: string;
}

export interface HeaderClaims {
  /** Judged together with the body: what it is for, and labels of one word. */
  readonly prose: readonly string[];
  /** Each judged by itself. */
  readonly values: readonly string[];
  /** Each by itself, and by the owner's words alone. */
  readonly grants: readonly string[];
}

interface Field {
  /** Names from the top, without the places in lists. */
  readonly path: string;
  readonly text: string;
}

const PROSE = /^(?:description|(?:metadata\.)?(?:hermes\.)?(?:when_to_use|when-to-use|whenToUse))(?:\.|$)/;
const GRANT =
  /(?:^|\.)(?:allowed[-_]?tools|requires?[-_][\w-]*|required[-_][\w-]*|fallback_for_[\w]*|prerequisites)(?:\.|$)/i;
const LABEL = /(?:^|\.)(?:tags|category|platforms|related_skills)$/;

export function headerClaims(after: ReadSkill, before: ReadSkill | undefined): HeaderClaims {
  const old = before === undefined ? [] : fieldsOf(before.frontmatter);
  const known = new Set(old.map(keyOf));
  const fresh = fieldsOf(after.frontmatter).filter((field) => !known.has(keyOf(field)) && !isForm(field));
  const words = new Set(wordsOf(after.body));
  const was = (path: string) => old.flatMap((one) => (one.path === path ? [one.text] : [])).join('\n');
  const prose: string[] = [];
  const values: string[] = [];
  const grants: string[] = [];
  for (const { path, text } of fresh) {
    if (GRANT.test(path)) grants.push(text);
    else if (PROSE.test(path)) prose.push(addedParts(text, was(path)));
    else if (!LABEL.test(path) || !isLabel(text)) values.push(text);
    else if (!wordsOf(text).every((word) => words.has(word))) prose.push(text);
  }
  return { prose, values, grants };
}

function keyOf({ path, text }: Field): string {
  return `${path} ${foldText(text)}`;
}

/** Names are text where they could be prose: with a blank in them, or below a field that is prose. */
function fieldsOf(value: JsonValue | undefined, path = ''): readonly Field[] {
  if (value === undefined || value === null || typeof value === 'boolean') return [];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => fieldsOf(item, path));
  if (!isJsonObject(value)) return [{ path, text: String(value) }].filter(({ text }) => text.trim() !== '');
  return Object.entries(value).flatMap(([key, item]) => {
    const isText = !/^[\w.-]+$/.test(key) || PROSE.test(path) || GRANT.test(path);
    const place = path === '' ? key : `${path}.${key}`;
    return [...(isText ? [{ path, text: key }] : []), ...fieldsOf(item, isText ? path : place)];
  });
}

const LICENSE =
  /^[\w.+()-]{1,40}(?: (?:OR|AND|WITH) [\w.+()-]{1,40}){0,3}$|^[\w.+-]{1,20}(?: \d[\d.]*)? Licen[cs]e(?: [\d.]{1,8})?$/;
/** The mark of a program: one word with a number of its own. */
const PROGRAM = /^(?=.*\d)(?=.*[-/:.])[\w./:@-]{3,64}$/;

function isForm({ path, text }: Field): boolean {
  if (path === 'name') return true;
  const key = path.replace(/^metadata\.(?:\w{1,20}\.)?/, '');
  if (key === 'version') return /^v?[\w.+-]{1,32}$/.test(text);
  if (key === 'license' || key === 'licence') return LICENSE.test(text);
  return key === 'author' && PROGRAM.test(text);
}

function isLabel(text: string): boolean {
  return /^[\p{L}\p{N}_-]{1,40}(?:[,\s]+[\p{L}\p{N}_-]{1,40}){0,7}$/u.test(text);
}

function wordsOf(text: string): readonly string[] {
  return foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

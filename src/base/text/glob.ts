// Owns file name patterns (`*`, `?`, `[…]`, `{a,b}`, `**`) and the rules of ignore files, the common part of their syntax. Knows no file system.
// Invariants: any text is a legal pattern or rule file, and matching takes linear time in practice (no nested repetition is ever built); the
// last rule that fits decides, deeper files decide over shallower ones. Not `path.matchesGlob`: it passes over names with a leading dot, and
// takes twelve times as long in a walk over many files.
import { escapeRegExp } from '../text.ts';

/** A test for paths relative to the searched folder, with `/`. A pattern without `/` is tried on the name alone. */
export function globTest(pattern: string): (path: string) => boolean {
  const trimmed = pattern.replace(/^\.?\//, '');
  const tests = expandLists(trimmed).map((single) => new RegExp(`^${globSource(single)}$`, 's'));
  const nameOnly = !trimmed.includes('/');
  return (path) => {
    const subject = nameOnly ? path.slice(path.lastIndexOf('/') + 1) : path;
    return tests.some((test) => test.test(subject));
  };
}

/** A test in which `*` stands for anything, `/` too, and all else for itself. Several in a row are one, so that no pattern takes long. */
export function starTest(pattern: string): (text: string) => boolean {
  const test = new RegExp(`^${pattern.replace(/\*+/g, '*').split('*').map(escapeRegExp).join('.*')}$`, 's');
  return (text) => test.test(text);
}

const MAX_LISTS = 200;

/** `a.{ts,js}` → `a.ts`, `a.js`; lists in lists are taken from the inside out. */
function expandLists(pattern: string): readonly string[] {
  let patterns = [pattern];
  while (patterns.length < MAX_LISTS) {
    const at = patterns.findIndex((text) => /\{[^{}]*,[^{}]*\}/.test(text));
    const match = at < 0 ? undefined : /\{([^{}]*,[^{}]*)\}/.exec(patterns[at] ?? '');
    if (!match) break;
    const text = patterns[at] ?? '';
    const before = text.slice(0, match.index);
    const after = text.slice(match.index + match[0].length);
    const choices = (match[1] ?? '').split(',').map((choice) => before + choice + after);
    patterns = [...patterns.slice(0, at), ...choices, ...patterns.slice(at + 1)];
  }
  return patterns;
}

/** Regular expression source of a glob without lists. */
function globSource(glob: string): string {
  const segments = glob.split('/').filter((segment, i, all) => segment !== '**' || all[i + 1] !== '**');
  let source = '';
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1;
    if (segment === '**') source += isLast ? '.*' : '(?:[^/]+/)*';
    else source += segmentSource(segment, i) + (isLast ? '' : '/');
  }
  return source;
}

/**
 * Between two stars the first place that fits is always good enough, so each such piece is taken once and for all (an atomic group):
 * without that a name like `aaaa…` and a pattern like `*a*a*a*b` would try every combination.
 */
function segmentSource(segment: string, id: number): string {
  const chunks = chunksOf(segment);
  const first = chunks[0] ?? '';
  const last = chunks.at(-1) ?? '';
  if (chunks.length === 1) return first;
  const middle = chunks.slice(1, -1).filter((chunk) => chunk !== '');
  const atoms = middle.map((chunk, i) => `(?=(?<s${id}_${i}>[^/]*?${chunk}))\\k<s${id}_${i}>`);
  return `${first}${atoms.join('')}[^/]*${last}`;
}

/** Sources of the pieces between stars. */
function chunksOf(segment: string): readonly string[] {
  const chunks = [''];
  for (let at = 0; at < segment.length; ) {
    const { text, length } = segment[at] === '*' ? { text: '*', length: 1 } : nextPart(segment, at);
    if (text === '*') chunks.push('');
    else chunks.push(`${chunks.pop() ?? ''}${text}`);
    at += length;
  }
  return chunks;
}

interface GlobPart {
  readonly text: string;
  readonly length: number;
}

function nextPart(glob: string, at: number): GlobPart {
  const char = glob[at] ?? '';
  if (char === '?') return { text: '[^/]', length: 1 };
  if (char === '\\' && at + 1 < glob.length) return { text: escapeRegExp(glob[at + 1] ?? ''), length: 2 };
  return readClass(glob, at) ?? { text: escapeRegExp(char), length: 1 };
}

function readClass(glob: string, at: number): GlobPart | undefined {
  const match = /^\[([!^]?)([^\]/]{1,100})\]/.exec(glob.slice(at, at + 110));
  if (!match) return undefined;
  const body = (match[2] ?? '').replace(/(.)-(.)|./gs, (item, from?: string, to?: string) => {
    const isRange = from !== undefined && to !== undefined && from <= to;
    return isRange ? `${inClass(from)}-${inClass(to)}` : [...item].map(inClass).join('');
  });
  return { text: `[${match[1] ? '^/' : ''}${body}]`, length: match[0].length };
}

function inClass(char: string): string {
  return /[\\[\]^-]/.test(char) ? `\\${char}` : char;
}

/** The rules of one ignore file, for paths relative to its folder. */
export type IgnoreFile = readonly { readonly test: RegExp; readonly keep: boolean; readonly foldersOnly: boolean }[];

export interface IgnoreScope {
  /** Path of the rule file's folder relative to the searched folder, '' or ending in `/`; `../` parts never occur. */
  readonly prefix: string;
  /** What a path of the search is called seen from the rule file's folder, when that lies above. */
  readonly above: string;
  readonly rules: IgnoreFile;
}

const MAX_RULES = 5_000;

export function parseIgnoreFile(text: string): IgnoreFile {
  return text.split(/\r?\n/).slice(0, MAX_RULES).flatMap(parseRule);
}

function parseRule(raw: string): IgnoreFile {
  const line = raw.replace(/(?<!\\)\s+$/, '');
  if (line === '' || line.startsWith('#') || line.length > 1_000) return [];
  const keep = line.startsWith('!');
  const body = line.slice(keep ? 1 : 0).replace(/^\\([#!])/, '$1');
  const foldersOnly = body.endsWith('/');
  const path = foldersOnly ? body.slice(0, -1) : body;
  const anchored = path.slice(0, -1).includes('/') || path.startsWith('/');
  const source = globSource(path.replace(/^\//, ''));
  if (source === '') return [];
  return [{ test: compile(anchored ? `^${source}$` : `^(?:.*/)?${source}$`, path), keep, foldersOnly }];
}

function compile(source: string, literal: string): RegExp {
  try {
    return new RegExp(source, 's');
  } catch (error) {
    if (error instanceof SyntaxError) return new RegExp(`^${escapeRegExp(literal)}$`);
    throw error;
  }
}

/** `path` is relative to the searched folder; `scopes` go from the outermost folder inwards. */
export function isIgnored(path: string, isFolder: boolean, scopes: readonly IgnoreScope[]): boolean {
  for (let i = scopes.length - 1; i >= 0; i -= 1) {
    const scope = scopes[i];
    const verdict = scope ? judge(scope.above + path.slice(scope.prefix.length), isFolder, scope.rules) : undefined;
    if (verdict !== undefined) return verdict;
  }
  return false;
}

function judge(path: string, isFolder: boolean, rules: IgnoreFile): boolean | undefined {
  for (let i = rules.length - 1; i >= 0; i -= 1) {
    const rule = rules[i];
    if (rule && (isFolder || !rule.foldersOnly) && rule.test.test(path)) return !rule.keep;
  }
  return undefined;
}

/** Is the file, or a folder above it, left out? */
export function isLeftOut(path: string, rules: IgnoreFile): boolean {
  const parts = path.split('/');
  return parts.some((_, at) => judge(parts.slice(0, at + 1).join('/'), at + 1 < parts.length, rules) === true);
}

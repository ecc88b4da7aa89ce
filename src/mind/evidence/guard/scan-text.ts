// Owns the scan of one text by the rules: as written, and as what is hidden in it says. Knows no single rule and no verdict.
// Invariants: what stands under words of warning, in a test, or in the skill's own trade counts a step less and never nothing; what was
// encoded counts a step more.
import type { Capability } from './capabilities.rules.ts';
import { type Finding, lowered, type Severity } from './finding.ts';
import type { Rule } from './rule.ts';
import { isOwnPackage, looksLikePackage } from './rules/code.rules.ts';
import { EMBEDDED_PROGRAM, type HiddenText, hiddenTexts } from './text/decode.ts';
import type { IsSubject } from './text/hosts.ts';
import { hiddenMarks, lineOf, spelledOut } from './text/invisible.ts';
import { lineIndex, type ReadText, readText } from './text/read-text.ts';
import { isSecurityTrade, isTalkedOf } from './text/talk.ts';

/** What is known of the whole skill while one of its files is read. */
export interface SkillContext {
  /** Name and description, folded. */
  readonly header: string;
  readonly isSubject: IsSubject;
}

export type RuleIndex = ReadonlyMap<string, readonly Rule[]>;

const LAYERS = 3;
/** Matches of one rule in one text that are looked at: more than anybody writes to hide one among others. */
const MATCHES = 2_000;
const TEST_FILE = /(?:^|\/)(?:tests?|__tests__|spec|fixtures)\/|(?:^|\/)test_[\w-]+\.py$|[._](?:test|spec)\.\w{2,4}$/;

export function ruleIndex(rules: readonly Rule[]): RuleIndex {
  const index = new Map<string, Rule[]>();
  for (const rule of rules) for (const word of rule.words) index.set(word, [...(index.get(word) ?? []), rule]);
  return index;
}

interface Scan {
  readonly path: string;
  readonly index: RuleIndex;
  readonly context: SkillContext;
  /** Steps that everything in it counts less. */
  readonly steps: number;
  readonly findings: Finding[];
}

export function scanText(path: string, text: string, context: SkillContext, index: RuleIndex): readonly Finding[] {
  const isOwnTrade = isSecurityTrade(context.header) || TEST_FILE.test(path);
  const scan: Scan = { path, index, context, steps: isOwnTrade ? 1 : 0, findings: [] };
  applyRules(scan, readText(text, path, context.isSubject), 0);
  scanHidden(scan, text, { layer: 1, base: 0 });
  for (const { id, severity, line, excerpt } of hiddenMarks(text)) add(scan, 'hidden', { id, severity, line, excerpt });
  return scan.findings;
}

interface Place {
  readonly id: string;
  readonly severity: Severity;
  readonly line: number;
  readonly excerpt: string;
}

function add({ path, findings }: Scan, capability: Capability, { id, severity, line, excerpt }: Place): void {
  findings.push({ rule: `${capability}/${id}`, capability, severity, path, line, excerpt: spelledOut(excerpt) });
}

/** `base`: the line of the file that a hidden text stands on; 0 for the file itself. */
function applyRules(scan: Scan, read: ReadText, base: number): void {
  for (const [rule, windows] of candidates(scan.index, read.text)) {
    let seen = 0;
    for (const match of matchesOf(rule, read.text, windows)) {
      take(scan, { rule, match, read, base });
      seen += 1;
      if (seen === MATCHES) break;
    }
  }
}

function* matchesOf({ patterns }: Rule, text: string, windows: readonly Window[]): Generator<Match> {
  const [first, ...others] = patterns;
  for (const { from, to } of windows)
    for (const { 0: found, index } of text.slice(from, to).matchAll(first)) {
      const match = { 0: found, index: from + index };
      if (others.length === 0) yield match;
      else {
        const sentence = sentenceAround(text, match.index);
        if (others.every((pattern) => pattern.test(sentence))) yield { ...match, sentence };
      }
    }
}

const SENTENCE = 300;

function sentenceAround(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - SENTENCE), at);
  const after = text.slice(at, at + SENTENCE);
  const end = after.search(/[.!?;](?=[\s"')*]|$)|[。！？\n]/);
  return (
    before.slice(before.search(/[^\n]*$/)).replace(/^.*[.!?;。！？]["')*]?(?=\s)/su, '') +
    (end < 0 ? after : after.slice(0, end + 1))
  );
}

interface Window {
  readonly from: number;
  to: number;
}

const BEHIND = 500;
const AHEAD = 700;

/** Rules of which a word stands in the text, each with the parts of the text that lie round its words. */
function candidates(index: RuleIndex, text: string): ReadonlyMap<Rule, readonly Window[]> {
  const found = new Map<Rule, Window[]>();
  const whole = [...(index.get('*') ?? []), ...(NOT_LATIN.test(text) ? (index.get('*not-latin') ?? []) : [])];
  for (const { 0: word, index: at } of text.matchAll(WORD)) {
    const rules = index.get(word);
    if (rules === undefined) continue;
    const far = Math.max(0, at - BEHIND);
    const from = far + Math.max(0, text.slice(far, at).lastIndexOf('\n'));
    for (const rule of rules) widen(found, rule, { from, to: at + AHEAD });
  }
  for (const rule of whole) found.set(rule, [{ from: 0, to: text.length }]);
  return found;
}

const NOT_LATIN = /[\u0400-\u04ff\u3040-\u9fff\uac00-\ud7af]/;
const WORD = /[a-z_][a-z0-9_]+/g;

function widen(found: Map<Rule, Window[]>, rule: Rule, window: Window): void {
  const windows = found.get(rule);
  const last = windows?.at(-1);
  if (windows === undefined) found.set(rule, [{ ...window }]);
  else if (last !== undefined && last.to >= window.from) last.to = window.to;
  else windows.push({ ...window });
}

/** The text of a match and where it begins. */
interface Match {
  readonly 0: string;
  readonly index: number;
  readonly sentence?: string;
}

interface Matched {
  readonly rule: Rule;
  readonly match: Match;
  readonly read: ReadText;
  readonly base: number;
}

function take(scan: Scan, { rule, match, read, base }: Matched): void {
  const offset = match.index + (match[0].length - match[0].trimStart().length);
  const at = lineIndex(read.starts, offset);
  const before = read.text.slice(Math.max(read.starts[at] ?? 0, offset - 200), offset);
  if (isLetGo({ rule, match, read, base }, at, before) || isOwn(scan, rule, match)) return;
  const isTalk = base === 0 && isTalkAt(read, at, before);
  const severity = base > 0 ? lowered(rule.severity, -1) : loweredFor(scan, rule, isTalk);
  scan.findings.push({
    ...{ rule: rule.id, capability: rule.capability, severity, path: scan.path },
    line: base > 0 ? base : at + 1,
    excerpt: spelledOut(match[0].replace(/«[a-z]{3,12}»/g, '').trim()),
    ...(isTalk || (base === 0 && (severity !== rule.severity || isOwnTrade(scan, rule))) ? { isTalk: true } : {}),
  });
}

function isLetGo({ rule, match, read, base }: Matched, at: number, before: string): boolean {
  if (base === 0 && !standsIn(rule, read, at)) return true;
  if (rule.unless?.test(match.sentence ?? `${before}${match[0].slice(0, 400)}`) === true) return true;
  return rule.id.startsWith('prerequisite/package-name') && !looksLikePackage(match[0]);
}

const isOwn = ({ context }: Scan, { id }: Rule, match: Match): boolean =>
  id === 'prerequisite/package-runner' && isOwnPackage(match[0], context.header, context.isSubject);

/** Of words on a line of code only a comment talks. */
function isTalkAt({ talk, kinds }: ReadText, at: number, before: string): boolean {
  if (talk[at] === true) return true;
  return (kinds[at] !== 'code' || /^\s*(?:#|\/\/|\*|--)/.test(before)) && isTalkedOf(before);
}

/**
 * Talk of mere words is nothing, and orders in words are a step less; commands and code stay what they are where they are talked of, but
 * not worse than caution: "never" is quickly written above them. In tests and in the skill's trade most is a step less.
 */
function loweredFor({ context, steps }: Scan, rule: Rule, isTalk: boolean): Severity {
  const { capability, severity, trade, place } = rule;
  if (isTalk && capability === 'wording') return 'low';
  if (isTalk) return severity === 'critical' || place === 'words' ? lowered(severity, 1) : severity;
  if (trade?.test(context.header) === true) return lowered(severity, 1);
  return severity === 'high' && NO_TRADE.has(capability)
    ? severity
    : lowered(severity, capability === 'hidden' ? 0 : steps);
}

const isOwnTrade = ({ steps }: Scan, { capability }: Rule): boolean => steps > 0 && capability !== 'hidden';

/** What no defender and no test needs done on this machine: "security" is quickly written into a header. */
const NO_TRADE: ReadonlySet<Capability> = new Set(['network', 'remote-code', 'prerequisite', 'settings', 'hidden']);

function standsIn({ place }: Rule, { kinds }: ReadText, at: number): boolean {
  const kind = kinds[at] ?? 'prose';
  if (place === 'any') return true;
  return place === 'words' ? kind !== 'code' : kind === place;
}

function scanHidden(scan: Scan, text: string, { layer, base }: { layer: number; base: number }): void {
  for (const hidden of hiddenTexts(text)) {
    const line = layer === 1 ? lineOf(text, hidden.offset) : base;
    if (hidden.text === EMBEDDED_PROGRAM)
      add(scan, 'obfuscation', {
        id: 'embedded-program',
        severity: 'critical',
        line,
        excerpt: 'an encoded executable',
      });
    else {
      scanDecoded(scan, hidden, line);
      if (layer < LAYERS) scanHidden(scan, hidden.text, { layer: layer + 1, base: line });
    }
  }
}

const COMMAND =
  /(?:^|[\s;&|(])(?:curl|wget|bash|sh|python3?|powershell|nc|eval|exec|chmod \+x|osascript|iwr|import os|subprocess|os\.system|child_process|require\()[\s('"-]/;
const ADDRESS = /^https?:\/\/[^\s]{4,300}$/;

function scanDecoded(scan: Scan, { text, how }: HiddenText, line: number): void {
  const before = scan.findings.length;
  applyRules(scan, readText(text, 'decoded', scan.context.isSubject), line);
  const isTelling = scan.findings.length > before || COMMAND.test(text) || ADDRESS.test(text.trim());
  if (isTelling) add(scan, 'obfuscation', { id: `encoded-${how}`, severity: 'high', line, excerpt: text });
}

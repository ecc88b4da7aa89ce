// Owns the scan of one text by the rules: as written, and as what is hidden in it says. Knows no single rule and no verdict.
// Invariants: what stands under words of warning, in a test, or in the skill's own trade counts a step less and never nothing; what was
// encoded counts a step more.
import { foldText } from '#base/text/fold.ts';
import { sentenceAt, sentencesOf } from '#base/text/sentences.ts';
import { lineOf } from '#base/text.ts';
import { isOwnPackage, looksLikePackage } from './code.rules.ts';
import { type Capability, type Finding, lowered, type Severity } from './finding.ts';
import {
  EMBEDDED_PROGRAM,
  type HiddenText,
  hiddenMarks,
  hiddenTexts,
  joinedPieces,
  spelledOut,
} from './hidden-text.ts';
import { type IsSubject, markHosts } from './hosts.ts';
import type { Rule } from './rule.ts';

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
        const { start, end } = sentenceAt(text, match.index, 'clause', SENTENCE);
        const sentence = text.slice(start, end);
        if (others.every((pattern) => pattern.test(sentence))) yield { ...match, sentence };
      }
    }
}

const SENTENCE = 300;

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

// The shape in which rules see a file: its folded text with the kinds of its hosts marked, where each line begins, what kind each line
// is, and which lines talk about attacks instead of making one. Knows no rule.
// Invariants: linear; line numbers are those of the file; prose that runs on and commands that are continued stand on one line.

export type LineKind = 'prose' | 'code' | 'comment' | 'header';

interface ReadText {
  readonly text: string;
  readonly starts: readonly number[];
  readonly kinds: readonly LineKind[];
  readonly talk: readonly boolean[];
}

interface Reading {
  readonly lines: string[];
  readonly kinds: LineKind[];
  readonly talk: boolean[];
  kind: LineKind;
  fence: string;
  /** Level of the heading that speaks of attacks and is still open, or 0. */
  guarded: number;
  /** The last prose led over to examples of what is bad. */
  lead: boolean;
  /** Lines left for which a comment has called the code bad. */
  bad: number;
}

const MARKDOWN = /\.(?:md|mdx|markdown|txt|rst|adoc)$|(?:^|\/)[^./]*$/i;
const FENCE = /^\s*(?:[-*+>]\s+|\d+[.)]\s+)*(`{3,}|~{3,})/;
const HEADING = /^\s{0,3}(#{1,6})\s/;

function readText(text: string, path: string, isSubject: IsSubject): ReadText {
  const markdown = MARKDOWN.test(path) && !/requirements[\w.-]*\.txt$/i.test(path);
  const start: LineKind = markdown ? 'prose' : 'code';
  const reading: Reading = { lines: [], kinds: [], talk: [], kind: start, fence: '', guarded: 0, lead: false, bad: 0 };
  for (const raw of text.split('\n')) {
    const folded = raw.trim() === '' ? '' : markHosts(foldText(raw, 'looks'), isSubject);
    if (markdown) takeMarkdown(reading, folded);
    else takeCode(reading, folded);
  }
  return joined(reading);
}

function takeMarkdown(reading: Reading, line: string): void {
  if (reading.lines.length === 0 && /^---[a-z]*\s*$/.test(line)) reading.kind = 'header';
  if (reading.kind === 'header') takeHeader(reading, line);
  else if (reading.fence !== '') takeInFence(reading, line);
  else takeOutside(reading, line);
}

function takeHeader(reading: Reading, line: string): void {
  readTextAdd(reading, line, false);
  if (reading.lines.length > 1 && /^(?:---|\.\.\.)\s*$/.test(line)) reading.kind = 'prose';
}

function takeInFence(reading: Reading, line: string): void {
  const fence = FENCE.exec(line)?.[1] ?? '';
  if (!fence.startsWith(reading.fence) || line.trim() !== fence) takeCode(reading, line);
  else {
    closeFence(reading);
    readTextAdd(reading, line, false);
  }
}

function takeOutside(reading: Reading, line: string): void {
  const fence = FENCE.exec(line)?.[1] ?? '';
  if (fence === '' || reading.kind === 'comment') takeProse(reading, line);
  else {
    reading.fence = fence;
    reading.kind = 'code';
    readTextAdd(reading, line, false);
  }
}

function closeFence(reading: Reading): void {
  reading.fence = '';
  reading.kind = 'prose';
  reading.bad = 0;
}

function takeCode(reading: Reading, line: string): void {
  if (isBadExample(line)) reading.bad = 8;
  readTextAdd(reading, line, reading.lead || reading.guarded > 0 || reading.bad > 0 || isPatternLine(line));
  if (reading.bad > 0) reading.bad -= 1;
}

const INDENTED = /^\s|^[-*+>|•]|^\d{1,3}[.)]/;

function takeProse(reading: Reading, line: string): void {
  const level = HEADING.exec(line)?.[1]?.length ?? 0;
  if (level > 0) takeHeading(reading, level, line);
  else if (line !== '' && !INDENTED.test(line)) reading.lead = /:[\s*_]*$/.test(line) && leadsToExamples(line);
  if (line.includes('<!--')) reading.kind = 'comment';
  readTextAdd(reading, line, reading.guarded > 0 || reading.lead);
  if (line.includes('-->')) reading.kind = 'prose';
}

function takeHeading(reading: Reading, level: number, line: string): void {
  reading.lead = false;
  const isInside = reading.guarded > 0 && level > reading.guarded;
  if (!isInside) reading.guarded = leadsToExamples(line) ? level : 0;
}

function readTextAdd({ lines, kinds, talk, kind }: Reading, line: string, isTalk: boolean): void {
  lines.push(line);
  kinds.push(kind);
  talk.push(isTalk);
}

const NEW_BLOCK = /^\s*(?:[-*+•>|#]|\d{1,3}[.)]\s|<|$|```)/;
const RUNS_ON = /\\\s*$/;

function joined({ lines, kinds, talk }: Reading): ReadText {
  const starts: number[] = [];
  const parts: string[] = [];
  let length = 0;
  lines.forEach((line, at) => {
    const kind = kinds[at];
    const next = lines[at + 1] ?? '';
    const pieces = kind === 'code' || line.includes('\x60') ? joinedPieces(line) : undefined;
    const shown = RUNS_ON.test(line) ? line.replace(RUNS_ON, ' ') : line;
    const runsOn =
      shown !== line || (kind !== 'code' && kinds[at + 1] === kind && !NEW_BLOCK.test(line) && !NEW_BLOCK.test(next));
    const part = `${shown}${pieces === undefined ? '' : `  ${pieces}`}${runsOn ? ' ' : '\n'}`;
    starts.push(length);
    parts.push(part);
    length += part.length;
  });
  return { text: parts.join(''), starts, kinds, talk };
}

/** Index of the line in which an offset lies. */
function lineIndex(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The telling apart of a deed from talk about it: warnings, quotations, lists of what to look for, bad examples. By a few words and by
// form. Knows no rule. Invariant: it only lowers a finding by a step; each pattern looks at one line.

const TALK =
  /\b(?:(?:threat|attack)(?:s|ers?|ing)?(?![- ]lin)|malicious|malware|red[- ]?flags?|anti-?patterns?|vulnerab\w{1,8}|unsafe|insecure|forbidden|prohibited|never|block(?:ed|list)|deny ?list|injection|exploit\w{0,6}|suspicious|dangerous|harmful|exfiltration|bad (?:examples?|practices?)|jailbreaks?|red[- ]?team\w{0,4}|pentest\w{0,4}|detect(?:ion|s|ed|ing)?|avoid|don'?ts?|refuses?|incorrect|wrong)\b|❌|🚫|✗|✘|⛔|检测|攻击|恶意|危险|禁止|避免|漏洞|攻撃|検出|опасн|запрещ|вредоносн/u;
const NEGATION =
  /(?:(?<![./@-])\b(?:never|(?:do|does|must|should|is|are|may|can) not|(?:do|does|must|should|is|are)n'?t|refuses?|(?<!to )avoid\w{0,3}|rejects?|prevents?|blocks?|detect\w{0,3}|flags?|forbids?|beware|watch for|looks? for|scans? for|checks? for|such as|e\.g\.?|example|instead of|rather than|attack\w{0,4}|malicious|malware|suspicious|red flags?|vulnerab\w{1,8}|exploits?|injection|dangerous|unsafe|insecure|risk\w{0,2}|if (?:you (?:see|find|spot)|a skill|an?y? (?:e-?mail|page|document|file|message|issue|user|text)))\b|[❌🚫✗✘⛔]|不要|禁止|避免|切勿|検出|しないで|не\s|нельзя|nie(?:mals)?\s|kein)[^.!?。]{0,120}$/u;
const URGING =
  /\b(?:never|not|n'?t|cannot)(?: \w+){0,2} (?:skip|forget|fail|omit|miss|hesitate|worry|ignore|wait|proceed|continue|tell|mention|inform|ask|work|function|stop|panic|close|shown?|need|reveal|let)\b/u;
const REPORTED =
  /\b(?:asks|asking|says?|saying|tells|contains?|containing|reads|like|phrases?|texts?|claims?)\b[^"\n]{0,80}["\x60“][^"\n]{0,60}$/u;

/** A heading or a line that leads over to a list or a fence. */
function leadsToExamples(folded: string): boolean {
  return TALK.test(folded);
}

/** A comment that calls the code below it bad. */
function isBadExample(folded: string): boolean {
  return /^\s*(?:#|\/\/|--|;|\/\*|\*|rem\b).{0,40}(?:\b(?:bad|wrong|vulnerable|unsafe|insecure|malicious|attack|anti-?pattern|never|don'?t|dangerous|incorrect)\b|❌|✗|✘|🚫)/u.test(
    folded,
  );
}

/** A line of a scanner: it holds a pattern to look for, not the thing. */
function isPatternLine(line: string): boolean {
  return /\b(?:re\.(?:compile|search|match|findall)|regexp?|patterns?|signature|blocked|deny|blocklist)\b.{0,200}(?:\\[sbwd.]|\.\*|\.\+|\[\^|\(\?:|["'\x60])|^\s*[([{,]{0,2}\s*\(?r?["'\x60/].{0,120}(?:\\[sbwd]|\.\*|\(\?:)/.test(
    line,
  );
}

/** Whether the words before a match, in its sentence, speak of it as of a danger, or as of something that others say. */
function isTalkedOf(before: string): boolean {
  if (REPORTED.test(before)) return true;
  // A dot inside of a name ends nothing: a host may be called `no.example`.
  const sentence = sentencesOf(before, 'clause').at(-1) ?? '';
  return NEGATION.test(sentence) && !URGING.test(sentence);
}

const SECURITY_TRADE =
  /\b(?:security|secure|secops|infosec|appsec|devsecops|pen-?test\w{0,6}|penetration|red[- ]?team\w{0,4}|ctf|capture the flag|forensics?|malware|threat|vulnerabilit\w{1,4}|exploit\w{0,6}|hack\w{0,5}|bug bounty|osint|reverse engineer\w{0,4}|incident response|audit\w{0,4}|guardrails?|scanner|vett(?:ing|er)|sandbox|hardening|injection|jailbreak|siem|yara|privilege escalation|payloads?|honeypots?|untrusted|zip slip|traversal|leaked)\b|安全|渗透|漏洞/;

/** Whether the skill's own words say that security is its trade; `header` is its name and description. */
function isSecurityTrade(header: string): boolean {
  return SECURITY_TRADE.test(header);
}

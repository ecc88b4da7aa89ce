// Owns the scan of one text: units, candidate rules, context, decoded texts, combinations. Knows no verdict and no folder.
// Invariant: pure and linear; never throws on any text; what is decoded is scanned like what is written, three layers deep.
import { type Finding, lowered, raised, type Severity } from '../finding.ts';
import { ALL_RULES, WHOLE_RULES } from '../rules/all-rules.ts';
import type { Rule } from '../rules/rule.ts';
import { EMBEDDED_PROGRAM, type HiddenText, hiddenTexts } from '../text/decode.ts';
import { isPatternLine, isSecurityTrade, quotedInTalk, takenBack } from '../text/defence.ts';
import { joinedPieces } from '../text/fold.ts';
import { hiddenMarks, lineOf, spelledOut } from '../text/hidden-marks.ts';
import { joinUnits } from '../text/join-units.ts';
import type { IsSubject } from '../text/mark-hosts.ts';
import { readUnits } from '../text/read-units.ts';
import { guardedAt, lineAt, type Unit } from '../text/unit.ts';
import { combine, type FactAt } from './combinations.ts';
import { candidateRules, ruleIndex } from './rule-index.ts';

/** What is known of the whole skill while one of its files is read. */
export interface SkillContext {
  /** Name and description, folded. */
  readonly header: string;
  readonly isSubject: IsSubject;
}

const INDEX = ruleIndex(ALL_RULES);
const WHOLE_INDEX = ruleIndex(WHOLE_RULES);
const LAYERS = 3;
const TEST_FILE = /(?:^|\/)(?:tests?|__tests__|spec|fixtures)\/|(?:^|\/)test_[\w-]+\.py$|[._](?:test|spec)\.\w{2,4}$/;

interface Scan {
  readonly path: string;
  readonly context: SkillContext;
  readonly security: boolean;
  /** A test's own file: hostile input is its material. */
  readonly test: boolean;
  readonly findings: Finding[];
  readonly facts: FactAt[];
  unit: number;
}

export function scanText(path: string, text: string, context: SkillContext): readonly Finding[] {
  const security = isSecurityTrade(context.header);
  const scan: Scan = { path, context, security, test: TEST_FILE.test(path), findings: [], facts: [], unit: 0 };
  const units = readUnits(text, path, context.isSubject);
  for (const unit of units) scanUnit(scan, unit);
  for (const whole of joinUnits(units)) applyRules(scan, whole, WHOLE_INDEX);
  scanHidden(scan, text, { layer: 1, base: 0 });
  for (const { id, severity, line, excerpt } of hiddenMarks(text))
    scan.findings.push({ rule: `obfuscation/${id}`, threat: 'obfuscation', severity, path, line, excerpt });
  for (const { id, threat, severity, line, firm } of combine(scan.facts)) {
    const counted = scan.security && !firm ? lowered(severity) : severity;
    scan.findings.push({ rule: id, threat, severity: counted, path, line, excerpt: excerptOf(text, line) });
  }
  return scan.findings;
}

function excerptOf(text: string, line: number): string {
  let start = 0;
  for (let at = 1; at < line; at += 1) start = text.indexOf('\n', start) + 1;
  const stop = text.indexOf('\n', start);
  return spelledOut(text.slice(start, Math.min(stop < 0 ? text.length : stop, start + 160)).trim());
}

function scanUnit(scan: Scan, unit: Unit): void {
  scan.unit += 1;
  applyRules(scan, unit);
  const joined = unit.kind === 'code' || unit.text.includes('`') ? joinedPieces(unit.text) : undefined;
  if (joined !== undefined) applyRules(scan, { ...unit, text: joined });
}

function applyRules(scan: Scan, unit: Unit, index = INDEX): void {
  for (const at of candidateRules(index, unit.text)) {
    const rule = index.rules[at];
    if (rule === undefined || (rule.kinds !== undefined && !rule.kinds.includes(unit.kind))) continue;
    const match = matchOf(rule, unit);
    if (match === undefined || rule.unless?.test(unit.text) || rule.test?.(match, unit) === false) continue;
    record(scan, { rule, unit, match });
  }
}

const PASSAGE_NEAR = 400;
const TRIES = 12;

/** The first match round which the rule's other parts hold as well. */
function matchOf({ pattern, also, near }: Rule, { text, kind }: Unit): RegExpExecArray | undefined {
  const parts = also ?? [];
  const reach = near ?? (kind === 'passage' ? PASSAGE_NEAR : undefined);
  if (parts.length > 0 && reach !== undefined) return nearMatch({ pattern, parts, reach }, text);
  return parts.every((part) => part.test(text)) ? (pattern.exec(text) ?? undefined) : undefined;
}

interface Parts {
  readonly pattern: RegExp;
  readonly parts: readonly RegExp[];
  readonly reach: number;
}

function nearMatch({ pattern, parts, reach }: Parts, text: string): RegExpExecArray | undefined {
  let tries = 0;
  for (const match of text.matchAll(new RegExp(pattern, 'gu'))) {
    const around = text.slice(Math.max(0, match.index - reach), match.index + match[0].length + reach);
    if (parts.every((part) => part.test(around))) return match;
    tries += 1;
    if (tries === TRIES) return undefined;
  }
  return undefined;
}

function record(scan: Scan, { rule, unit, match }: { rule: Rule; unit: Unit; match: RegExpExecArray }): void {
  const end = match.index + match[0].length;
  const start = match.index + (match[0].startsWith('\n') ? 1 : 0);
  const excused = guardedAt(unit, start) || isExcused(lineOfWhole(unit, start), end - start);
  const line = lineAt(unit, start);
  for (const fact of rule.facts ?? []) scan.facts.push({ fact, line, guarded: excused, unit: scan.unit });
  if (rule.severity === undefined) return;
  const severity = counted(scan, { rule, unit, excused });
  const excerpt = spelledOut(unit.text.slice(start, end).replace(/«[a-z]{3,12}»/g, ''));
  scan.findings.push({ rule: rule.id, threat: rule.threat, severity, path: scan.path, line, excerpt });
}

interface Place {
  readonly text: string;
  readonly code: boolean;
  readonly at: number;
}

/** A whole is judged by the line on which the match begins. */
function lineOfWhole({ text, kind }: Unit, at: number): Place {
  if (kind !== 'passage' && kind !== 'program') return { text, code: kind === 'code', at };
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const stop = text.indexOf('\n', at);
  return { text: text.slice(start, stop < 0 ? text.length : stop), code: kind === 'program', at: at - start };
}

function isExcused({ text, code, at }: Place, length: number): boolean {
  if (isPatternLine(text)) return true;
  if (quotedInTalk(text, at, Math.min(text.length, at + length))) return true;
  return code ? /^\s*(?:#|\/\/|\*|--)/.test(text) && takenBack(text, at) : takenBack(text, at);
}

function counted(scan: Scan, { rule, unit, excused }: { rule: Rule; unit: Unit; excused: boolean }): Severity {
  let severity = rule.severity ?? 'low';
  if (unit.depth > 0) return raised(severity);
  if (rule.absolute === true) return severity;
  if (excused) severity = lowered(lowered(severity));
  if (rule.trade?.test(scan.context.header)) severity = lowered(severity);
  else if (scan.test || (scan.security && rule.firm !== true)) severity = lowered(severity);
  return severity;
}

function scanHidden(scan: Scan, text: string, { layer, base }: { layer: number; base: number }): void {
  for (const hidden of hiddenTexts(text)) {
    const line = layer === 1 ? lineOf(text, hidden.offset) : base;
    if (hidden.text === EMBEDDED_PROGRAM) {
      addHidden(scan, { id: 'embedded-program', severity: 'critical', line, text: 'an encoded executable' });
      continue;
    }
    scanDecoded(scan, hidden, line);
    if (layer < LAYERS) scanHidden(scan, hidden.text, { layer: layer + 1, base: line });
  }
}

function addHidden(
  scan: Scan,
  { id, severity, line, text }: { id: string; severity: Severity; line: number; text: string },
): void {
  const excerpt = spelledOut(text);
  scan.findings.push({ rule: `obfuscation/${id}`, threat: 'obfuscation', severity, path: scan.path, line, excerpt });
}

function scanDecoded(scan: Scan, { text, how }: HiddenText, line: number): void {
  const before = scan.findings.length;
  const facts = scan.facts.length;
  for (const unit of readUnits(text, 'decoded.md', scan.context.isSubject))
    for (const kind of ['code', 'prose'] as const)
      scanUnit(scan, { ...unit, kind, depth: 1, guarded: false, starts: [{ offset: 0, line }] });
  const known = scan.findings.length > before || scan.facts.slice(facts).some(({ fact }) => TELLING.has(fact));
  if (known) addHidden(scan, { id: `hidden-${how}`, severity: 'high', line, text });
  else if (COMMAND.test(text)) addHidden(scan, { id: `encoded-command-${how}`, severity: 'high', line, text });
  else if (ADDRESS.test(text.trim())) addHidden(scan, { id: `encoded-address-${how}`, severity: 'high', line, text });
}

const TELLING: ReadonlySet<string> = new Set([
  'secret',
  'send-bad',
  'send-chat',
  'runs-remote',
  'decodes',
  'shields-off',
]);
const COMMAND =
  /(?:^|[\s;&|(])(?:curl|wget|bash|sh|python3?|powershell|nc|eval|exec|chmod \+x|osascript|iwr|import os|subprocess|os\.system|child_process|require\()[\s('"-]/;
const ADDRESS = /^https?:\/\/[^\s]{4,300}$/;

// Owns what is known and said of a draft: whether it was decided or kept already (what waits, what got a no, what was taken back, what another skill
// says), and how it reads to a person, in one line and whole.

import { isJsonObject, type JsonObject } from '#base/json.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { ellipsize, oneLine, plural } from '#base/text.ts';
import {
  type MemoryOperation,
  operationsOf,
  type Proposal,
  type ProposalDraft,
  type ProposalLedger,
} from '#mind/evidence/proposal.ts';
import { overlap } from '#mind/memory/kept-entries.ts';
import { readSteps, type StepItem, shortStep } from './procedure.ts';

interface Declined {
  readonly reason: 'already-pending' | 'rejected-before' | 'taken-back';
  readonly detail: string;
}

/** Share of words by which two entries say the same. */
const SAME = 0.8;

/** `entries`: what stands in the file that the draft is for. */
export function findDeclinedEntry(
  ledger: Pick<ProposalLedger, 'list'>,
  entries: readonly string[],
  draft: ProposalDraft,
  operations: readonly MemoryOperation[],
): Declined | undefined {
  const { sessionId } = draft;
  const wanted = textsOf(operations).filter((text) => !entries.includes(text));
  if (sessionId === undefined || wanted.length === 0) return undefined;
  const says = (proposal: Proposal) => {
    const before = operationsOf(proposal.change);
    const texts = typeof before === 'string' ? [] : textsOf(before);
    return isFromSame(draft, proposal) && texts.some((old) => wanted.some((text) => saysSame(text, old, entries)));
  };
  const find = (status: 'rejected' | 'applied') => ledger.list({ kind: 'memory', sessionId, status }).find(says);
  if (find('rejected')) return { reason: 'rejected-before', detail: 'The owner did not want this entry.' };
  return find('applied')
    ? { reason: 'taken-back', detail: 'This was kept from the same messages before, and taken back.' }
    : undefined;
}

function textsOf(operations: readonly MemoryOperation[]): readonly string[] {
  return operations.flatMap((one) => (one.action === 'remove' ? [] : [one.content.trim()]));
}

/** Something that was kept and still stands was not taken back. */
function saysSame(text: string, old: string, entries: readonly string[]): boolean {
  return !entries.includes(old) && (text === old || (overlap(text, old) > SAME && overlap(old, text) > SAME));
}

/** A new skill that waits already, that the owner did not want, or that was made of these messages and is gone. */
export function findDeclinedSkill(
  ledger: Pick<ProposalLedger, 'list'>,
  isThere: (name: string) => boolean,
  draft: ProposalDraft,
): Declined | undefined {
  const { target, action, sessionId } = draft;
  if (action !== 'create') return undefined;
  const find = (status: 'pending' | 'rejected' | 'applied', fits: (one: Proposal) => boolean) =>
    ledger.list({ kind: 'skill', status }).find((one) => one.action === 'create' && fits(one));
  const isNamesake = (one: Proposal) => one.target === target;
  const isTwin = (one: Proposal) =>
    sessionId !== undefined && one.sessionId === sessionId && (restsOn(draft, one) || hasSameSteps(draft, one));
  const waiting = find('pending', (one) => isNamesake(one) || isTwin(one));
  if (waiting) return { reason: 'already-pending', detail: `A skill ${waiting.target} waits for the owner already.` };
  if (find('rejected', (one) => isNamesake(one) || isTwin(one)))
    return { reason: 'rejected-before', detail: `The owner did not want a skill ${target} of this.` };
  return find('applied', (one) => isTwin(one) && !isThere(one.target))
    ? { reason: 'taken-back', detail: `A skill of the same messages was kept before, and taken back.` }
    : undefined;
}

function isFromSame(draft: ProposalDraft, other: Proposal): boolean {
  return !handlesOf(draft).isDisjointFrom(handlesOf(other));
}

function handlesOf({ citations }: ProposalDraft): ReadonlySet<string> {
  return new Set(citations.map(({ handle }) => handle));
}

/** Under whatever name. */
function hasSameSteps(draft: ProposalDraft, other: Proposal): boolean {
  const [own, others] = [draft, other].map(({ change }) => stepsIn(change).map(({ source }) => source));
  return own !== undefined && own.length > 0 && own.join('\n') === others?.join('\n');
}

function stepsIn({ content }: JsonObject): readonly StepItem[] {
  return typeof content === 'string' ? readSteps(splitFrontMatter(content).body) : [];
}

/** Nearly all that the draft cites was cited for the other one. */
function restsOn(draft: ProposalDraft, other: Proposal): boolean {
  const own = handlesOf(draft);
  return own.size > 0 && own.intersection(handlesOf(other)).size >= own.size * SAME;
}

interface SkillText {
  readonly name: string;
  /** Whole SKILL.md. */
  readonly text: string;
}

/** Share of the new skill's commands that stand in the other one. */
const MOST = 0.6;
/** So many must be shared, or all that the other one has. */
const FEWEST = 2;
/** Of one skill; no procedure is longer. */
const READ = 200;

/** The one that shares most; of two the first. */
export function findRepeated(draft: SkillText, others: readonly SkillText[]): string | undefined {
  const own = commandsOf(draft.text);
  let best: { readonly name: string; readonly shared: number } | undefined;
  for (const { name, text } of others) {
    const theirs = commandsOf(text);
    const shared = own.filter((command) => theirs.some((other) => isSame(command, other))).length;
    const isRepeat = shared > 0 && shared >= own.length * MOST && shared >= Math.min(FEWEST, theirs.length);
    if (isRepeat && shared > (best?.shared ?? 0)) best = { name, shared };
  }
  return best?.name;
}

type Command = readonly string[];

const PARTS = /^[ \t]*(```|~~~)[^\n]*\n([\s\S]*?)\n[ \t]*\1|`([^`\n]+)`/gm;
const WORDS = /"[^"]*"|'[^']*'|\S+/g;
const PLACEHOLDER = /\{[^{}]*\}|<[^<>]*>|\$\{?\w+\}?/;

/** Lines of code blocks and spans of code of two words at least, each once. */
function commandsOf(text: string): readonly Command[] {
  const found = new Map<string, Command>();
  for (const [, , block, span = ''] of splitFrontMatter(text).body.matchAll(PARTS))
    for (const line of (block ?? span).split('\n')) {
      const words = line.replace(/^\s*\$\s/, '').match(WORDS) ?? [];
      if (words.length > 1 && !line.trimStart().startsWith('#')) found.set(words.join(' '), words);
    }
  return [...found.values()].slice(0, READ);
}

/** The same program and words; a placeholder stands for any word, but not for the program. */
function isSame(command: Command, other: Command): boolean {
  if (command.length !== other.length || command[0] !== other[0]) return false;
  return command.every(
    (word, at) => word === other[at] || [word, other[at] ?? ''].some((one) => PLACEHOLDER.test(one)),
  );
}

const SHORT = 90;
const FILES = { memory: 'MEMORY.md', user: 'USER.md' } as const;

type Change = Pick<ProposalDraft, 'kind' | 'target' | 'action' | 'change'>;

/** `Kept in USER.md: "…"`, `Patched the skill release: "…"`. */
export function doneLine(draft: Change): string {
  return draft.kind === 'memory' ? memoryLine(draft) : skillLine(draft);
}

export function takenBackLine(draft: Change): string {
  const isGone = draft.kind === 'skill' && (draft.action === 'create' || draft.action === 'install');
  return isGone ? `Taken back: the skill ${draft.target} is gone.` : `Taken back: ${doneLine(draft)}`;
}

/** With the words for an answer behind it an offer fits into 100 columns. */
const OFFER = 73;
const OFFERED_NAME = 32;
const SHOWN_STEPS = 3;

/** `New skill "build" (4 steps: cat page.txt, sh build.sh, …)?`: what waits, on one short line. */
export function offerLine({ kind, target, action, change }: Proposal): string {
  const name = `"${ellipsize(target, OFFERED_NAME)}"`;
  if (kind === 'memory') return framed(`Remember in ${fileOf(target)}: `, contentOf(change), '?');
  if (action === 'create') return newSkillLine(name, change);
  if (action === 'delete') return `Delete the skill ${name}?`;
  return framed(`Change the skill ${name}: `, oneLine(addedPart(change)) || action, '?');
}

const DESCRIBED = /^description:[ \t]*(.+)$/m;

function newSkillLine(name: string, change: JsonObject): string {
  const steps = stepsIn(change).map(({ step, source }) =>
    oneLine(step.kind === 'call' ? shortStep(step).replace(/^\$ /, '') : source.replace(/^\d{1,3}[.)]\s+/, '')),
  );
  if (steps.length === 0)
    return framed(
      `New skill ${name} (`,
      DESCRIBED.exec(textOf(change, 'content'))?.[1]?.replace(/^["']|["']$/g, '') ?? '',
      ')?',
    );
  const head = `New skill ${name} (${plural(steps.length, 'step')}: `;
  for (let count = Math.min(SHOWN_STEPS, steps.length); count > 0; count -= 1) {
    const line = `${head}${steps.slice(0, count).join(', ')}${count < steps.length ? ', …' : ''})?`;
    if (line.length <= OFFER) return line;
  }
  return framed(head, steps[0] ?? '', ')?');
}

function framed(head: string, text: string, end: string): string {
  return `${head}${ellipsize(oneLine(text), Math.max(8, OFFER - head.length - end.length))}${end}`;
}

/** What waits unasked, and why. */
export function heldLine(proposal: Proposal): string {
  const what =
    proposal.kind === 'memory'
      ? `an entry for ${fileOf(proposal.target)}`
      : `${proposal.action} of the skill ${proposal.target}`;
  const why = HELD[proposal.reason ?? ''] ?? 'it is yours to decide';
  return `Waits: ${what}, since ${why} · talaria pending show ${proposal.id}`;
}

const HELD: Readonly<Record<string, string>> = {
  'origin-not-allowed': 'it rests on text that you did not write',
  'foreign-words': 'its words come from text that you did not write',
  'value-not-cited': 'it names what stands in nothing it cites',
  'goes-beyond': 'it says more than what it cites',
  'not-judged': 'no model judged it',
};

/** The change whole, then the words that it cites. */
export function offerText({ change, action, citations }: Proposal): string {
  const whole =
    action === 'patch' ? `- ${textOf(change, 'old_string')}\n+ ${textOf(change, 'new_string')}` : changedText(change);
  const cited = citations.map(({ handle, quote }) => `  ${handle.replace(':', ' ')}: "${quote}"`);
  return [whole, ...changedFiles(change), ...(cited.length > 0 ? ['', 'Cited:', ...cited] : [])].join('\n');
}

/** Support files that change with SKILL.md. */
function changedFiles({ files }: JsonObject): readonly string[] {
  if (!Array.isArray(files)) return [];
  return files.filter(isJsonObject).map((file) => {
    const path = textOf(file, 'path');
    return file.content === null ? `\nThe file ${path} goes.` : `\nThe file ${path}:\n${textOf(file, 'content')}`;
  });
}

function memoryLine({ target, action, change }: Change): string {
  const verb = { add: 'Kept in', replace: 'Changed in', remove: 'Removed from' }[action] ?? 'Changed in';
  return `${verb} ${fileOf(target)}: ${quoted(contentOf(change))}`;
}

const SKILL_VERBS: Readonly<Record<string, string>> = {
  create: 'Kept the new skill',
  install: 'Installed the skill',
  delete: 'Deleted the skill',
  patch: 'Patched the skill',
  edit: 'Rewrote the skill',
  write_file: 'Wrote a file of the skill',
  remove_file: 'Removed a file of the skill',
};

function skillLine({ target, action, change }: Change): string {
  const verb = SKILL_VERBS[action] ?? 'Changed the skill';
  const more = action === 'patch' ? `: ${quoted(addedPart(change))}` : '';
  return `${verb} ${target}${more}`;
}

/** The lines of the new text that the old one does not have, whatever their number in a list. */
function addedPart(change: JsonObject): string {
  const linesOf = (key: string) => textOf(change, key).split('\n');
  const bare = (line: string) => line.trim().replace(/^\d{1,3}[.)]\s+/, '');
  const old = new Set(linesOf('old_string').map(bare));
  const added = linesOf('new_string').filter((line) => line.trim() !== '' && !old.has(bare(line)));
  return added.length > 0 ? added.join(' ') : textOf(change, 'new_string');
}

function contentOf(change: JsonObject): string {
  const steps = Array.isArray(change.operations) && change.operations.length > 0 ? change.operations : [change];
  return steps
    .filter(isJsonObject)
    .map((step) => textOf(step, 'content', 'new_text', 'old_text'))
    .join('; ');
}

function changedText(change: JsonObject): string {
  return textOf(change, 'content', 'file_content', 'new_string', 'file_path') || contentOf(change);
}

function fileOf(target: string): string {
  return target === 'user' ? FILES.user : FILES.memory;
}

function quoted(text: string): string {
  return `"${ellipsize(oneLine(text), SHORT)}"`;
}

function textOf(change: JsonObject, ...keys: readonly string[]): string {
  const value = keys.map((key) => change[key]).find((one) => typeof one === 'string' && one !== '');
  return typeof value === 'string' ? value : '';
}

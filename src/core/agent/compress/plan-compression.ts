// Owns what one compression would do: which messages go, what stands for them, what it saves. Pure; knows no model and no store.
// Invariant: a plan never words anything itself, and its text merges with an earlier summary line by line. Seed 001 chapter 14.
import { ellipsize, estimateTokens, sliceText } from '#base/text.ts';
import { imagesIn, isTainted, messageText, type UserMessage } from '#core/model/message.ts';
import { type CompressionBudget, countTurns, isTurnStart, messageTokens } from '../history.ts';
import type { StoredMessage } from '../session-store.ts';
import { gatherSaid, gatherValues, gatherWork, latestTasks } from './anchors.ts';
import {
  type Coverage,
  EXACT,
  isSummary,
  isValueKind,
  parseSummary,
  renderSummary,
  type SectionName,
  type Sections,
  type Summary,
  summaryMessage,
  summaryText,
  WORDED,
} from './summary.ts';

export interface CompressionPlan {
  /** Messages that leave, an earlier summary among them. */
  readonly ids: readonly number[];
  /** Those of them that nobody has summarised yet. */
  readonly middle: readonly StoredMessage[];
  readonly earlier: Summary | undefined;
  /** What is kept word for word, whoever words the rest. */
  readonly exact: Sections;
  readonly coverage: Coverage;
  /** Foreign words are among what leaves. */
  readonly tainted: boolean;
  /** Tokens of the messages that leave. */
  readonly leaving: number;
  readonly budget: CompressionBudget;
}

/** What a model has worded, and which lines of the earlier `Open` it found settled. */
export interface Worded {
  readonly sections: Sections;
  readonly closed: ReadonlySet<string>;
}

/** What a summary's first lines take beside its sections. */
const COVERAGE_TOKENS = 120;

/** Undefined when nothing lies between head and tail. */
export function planCompression(
  sessionId: string,
  messages: readonly StoredMessage[],
  budget: CompressionBudget,
): CompressionPlan | undefined {
  const { head, middle, earlier, tail } = splitContext(messages, budget);
  if (middle.length === 0) return undefined;
  const kept = [...head, ...tail];
  const known = earlier && parseSummary(summaryText(earlier.message) ?? '');
  const leaving = earlier ? [earlier, ...middle] : middle;
  return {
    ids: leaving.map((stored) => stored.id),
    middle,
    earlier: known && withoutStaleTasks(known, tail),
    exact: exactSections(middle, kept),
    coverage: coverageOf(sessionId, middle, known?.coverage),
    tainted: isTainted(leaving.map(({ message }) => message)),
    leaving: leaving.reduce((sum, stored) => sum + messageTokens(stored.message), 0),
    budget,
  };
}

/** The message that stands for what leaves. Without words of a model the plain lines stand in. */
export function summarise(plan: CompressionPlan, worded?: Worded): UserMessage {
  const { exact } = plan;
  const given = worded?.sections ?? plainSections(plan.middle);
  const fresh = { ...exact, ...given, Files: [...(exact.Files ?? []), ...(given.Files ?? [])] };
  const merged = mergeSections(plan.earlier?.sections ?? {}, fresh, worded?.closed);
  const sections = fitSections(merged, plan.budget.summary);
  return summaryMessage(renderSummary({ coverage: plan.coverage, sections }), plan.tainted ? 'foreign' : 'model');
}

/** Whether it can save `share` of `before` tokens, without a model's words. */
export function canSave(plan: CompressionPlan, before: number, share: number): boolean {
  const atLeast = plan.leaving - plan.budget.summary - COVERAGE_TOKENS;
  return atLeast >= share * before || savedShare(plan, summarise(plan), before) >= share;
}

/** Share of `before` tokens that goes when `message` stands for what leaves. */
export function savedShare(plan: CompressionPlan, message: UserMessage, before: number): number {
  return (plan.leaving - messageTokens(message)) / Math.max(1, before);
}

function withoutStaleTasks(earlier: Summary, tail: readonly StoredMessage[]): Summary {
  if (latestTasks(tail.map((stored) => stored.message)) === undefined) return earlier;
  const { Tasks: _, ...sections } = earlier.sections;
  return { ...earlier, sections };
}

function coverageOf(sessionId: string, middle: readonly StoredMessage[], earlier: Coverage | undefined): Coverage {
  const last = earlier?.stretches.at(-1);
  const extended = last?.sessionId === sessionId ? last : undefined;
  const ids = middle.map((stored) => stored.id).sort((a, b) => a - b);
  const stretch = {
    sessionId,
    fromId: Math.min(extended?.fromId ?? Number.POSITIVE_INFINITY, ids[0] ?? 0),
    toId: Math.max(extended?.toId ?? 0, ids.at(-1) ?? 0),
    messages: (extended?.messages ?? 0) + middle.length,
  };
  return {
    stretches: [...(earlier?.stretches ?? []).slice(0, extended ? -1 : undefined), stretch],
    turns: (earlier?.turns ?? 0) + countTurns(middle.map((stored) => stored.message)),
    compressions: (earlier?.compressions ?? 0) + 1,
  };
}

// The part of a summary that needs no model: exact values, files, errors, tasks, and plain lines in place of worded sections.
// Pure. Invariant: every line is a quotation or our own record, with the id of its message behind it.

/** Characters of one quotation. */
const QUOTE = 200;
const MOST_ASKED = 60;

/** True whoever words the rest. @param kept what stays in the context */
function exactSections(middle: readonly StoredMessage[], kept: readonly StoredMessage[]): Sections {
  const gone = middle.map((stored) => stored.message);
  const { files, errors } = gatherWork(middle);
  const values = gatherValues(
    gone,
    kept.map((stored) => stored.message),
  );
  return { ...values, Files: files, Errors: errors, Said: gatherSaid(middle), Tasks: latestTasks(gone) ?? [] };
}

/** Stand in for what a model would have worded. */
function plainSections(middle: readonly StoredMessage[]): Sections {
  return { Goal: asked(middle), Done: gatherWork(middle).done, 'Active state': lastAnswer(middle) };
}

/** The first and the latest: a section keeps no more. */
function asked(messages: readonly StoredMessage[]): readonly string[] {
  const turns = messages.filter(({ message }) => isTurnStart(message));
  return [...turns.slice(0, 1), ...turns.slice(1).slice(-MOST_ASKED)].map(quote);
}

function lastAnswer(messages: readonly StoredMessage[]): readonly string[] {
  const last = messages.findLast(({ message }) => message.role === 'assistant' && messageText(message) !== '');
  return last === undefined ? [] : [quote(last)];
}

function quote({ id, message }: StoredMessage): string {
  return `${message.role}: ${ellipsize(sliceText(messageText(message), QUOTE * 2).replace(/\s+/g, ' '), QUOTE)} #${id}`;
}

// Which messages stay and which leave: the head, the newest, what began the turn under way, and the middle that goes. Pure.
// Invariant: a call and its results stay or leave together, and the order of what stays is the order it had. Seed 001 chapter 14.

export interface ContextSplit {
  readonly head: readonly StoredMessage[];
  /** What leaves, without an earlier summary. */
  readonly middle: readonly StoredMessage[];
  /** The earlier summary, which a new one supersedes. */
  readonly earlier: StoredMessage | undefined;
  /** What stays behind the middle; the message that began the last turn may have stood inside it. */
  readonly tail: readonly StoredMessage[];
}

const HEAD_MESSAGES = 3;

/** A message that is not a result, with the results that follow it. */
interface Block {
  readonly messages: StoredMessage[];
  tokens: number;
}

/** Once there is a summary, only what stands before it can be head: what follows it is no beginning. */
export function splitContext(
  messages: readonly StoredMessage[],
  budget: Pick<CompressionBudget, 'head' | 'tail'>,
): ContextSplit {
  const summaryAt = messages.findLastIndex((stored) => isSummary(stored.message));
  const earlier = summaryAt < 0 ? undefined : messages[summaryAt];
  const blocks = toBlocks(messages.filter((stored) => !isSummary(stored.message)));
  const oldest = summaryAt < 0 ? blocks : toBlocks(messages.slice(0, summaryAt));
  const headEnd = countHead(oldest, budget.head);
  const tailStart = Math.max(headEnd, blocks.length - countTail(blocks, budget.tail));
  const between = blocks.slice(headEnd, tailStart);
  const asked = between.findLast((block) => isTurnStart(firstOf(block).message));
  const tailBeginsTurn = blocks.slice(tailStart).some((block) => isTurnStart(firstOf(block).message));
  const isAsked = (block: Block) => block === asked && !tailBeginsTurn && block.tokens <= budget.tail;
  return {
    head: flatten(blocks.slice(0, headEnd)),
    middle: flatten(between.filter((block) => !isAsked(block))),
    earlier,
    tail: flatten([...between.filter(isAsked), ...blocks.slice(tailStart)]),
  };
}

function toBlocks(messages: readonly StoredMessage[]): readonly Block[] {
  const blocks: Block[] = [];
  for (const stored of messages) {
    const tokens = messageTokens(stored.message);
    const open = blocks.at(-1);
    if (stored.message.role === 'tool' && open) {
      open.messages.push(stored);
      open.tokens += tokens;
    } else blocks.push({ messages: [stored], tokens });
  }
  return blocks;
}

function countHead(blocks: readonly Block[], budget: number): number {
  let messages = 0;
  let tokens = 0;
  for (const [i, block] of blocks.entries()) {
    tokens += block.tokens;
    // A picture is the first to go.
    const isHeavy = block.messages.some(({ message }) => imagesIn(message).length > 0);
    if (messages >= HEAD_MESSAGES || tokens > budget || isHeavy) return i;
    messages += block.messages.length;
  }
  return blocks.length;
}

/** The last block stays whatever it takes: it is what the next step answers. */
function countTail(blocks: readonly Block[], budget: number): number {
  let tokens = 0;
  for (let count = 0; count < blocks.length; count += 1) {
    tokens += blocks[blocks.length - 1 - count]?.tokens ?? 0;
    if (tokens > budget && count > 0) return count;
  }
  return blocks.length;
}

function firstOf(block: Block): StoredMessage {
  return block.messages[0] as StoredMessage;
}

function flatten(blocks: readonly Block[]): readonly StoredMessage[] {
  return blocks.flatMap((block) => block.messages);
}

// Joining an earlier summary with a new one, line by line, and cutting the whole to its budget. Pure.
// Invariant: no line is ever reworded: a summary is not summarised. What is cut is cut whole, and the section says how much. Seed 001 chapter 14.

/** Which end of a section gives way, and the share of the summary that it may take before others have given up theirs. */
interface SectionRule {
  readonly cut: 'oldest' | 'middle' | 'last';
  readonly share: number;
}

const RULES: Readonly<Record<SectionName, SectionRule>> = {
  Goal: { cut: 'middle', share: 0.08 },
  Done: { cut: 'oldest', share: 0.17 },
  'Active state': { cut: 'oldest', share: 0.08 },
  Open: { cut: 'oldest', share: 0.08 },
  Decisions: { cut: 'oldest', share: 0.1 },
  Files: { cut: 'oldest', share: 0.08 },
  Tasks: { cut: 'last', share: 0.08 },
  Said: { cut: 'middle', share: 0.08 },
  Errors: { cut: 'oldest', share: 0.05 },
  Paths: { cut: 'last', share: 0.06 },
  Links: { cut: 'last', share: 0.03 },
  Ids: { cut: 'last', share: 0.05 },
  Names: { cut: 'last', share: 0.03 },
  Values: { cut: 'last', share: 0.03 },
};

const NAMES: readonly SectionName[] = [...WORDED, ...EXACT];
const LINE_LIMIT = { least: 120, most: 400 };

/** `closed`: lines of the earlier `Open` that are settled now. */
export function mergeSections(earlier: Sections, fresh: Sections, closed: ReadonlySet<string> = new Set()): Sections {
  const merged: Partial<Record<SectionName, readonly string[]>> = {};
  for (const name of NAMES) {
    const old = earlier[name] ?? [];
    const lines = fresh[name] ?? [];
    merged[name] = mergeLines(name, name === 'Open' ? old.filter((line) => !closed.has(line)) : old, lines);
  }
  return merged;
}

function mergeLines(name: SectionName, old: readonly string[], fresh: readonly string[]): readonly string[] {
  if (name === 'Active state' || name === 'Tasks') return unique(fresh.length > 0 ? fresh : old);
  if (isValueKind(name)) return unique(interleave(fresh, old));
  return joinLeftOut(unique([...old, ...fresh]));
}

function interleave(first: readonly string[], second: readonly string[]): readonly string[] {
  const mixed: string[] = [];
  for (let i = 0; i < Math.max(first.length, second.length); i += 1)
    mixed.push(...first.slice(i, i + 1), ...second.slice(i, i + 1));
  return mixed;
}

function unique(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)];
}

/** Cuts to `budget` tokens. What a section leaves of its share goes to the others, in their order. */
export function fitSections(sections: Sections, budget: number): Sections {
  const limit = Math.min(LINE_LIMIT.most, Math.max(LINE_LIMIT.least, Math.floor(budget / 5)));
  const lines = NAMES.map((name) => (sections[name] ?? []).map((line) => ellipsize(line, limit)));
  const needs = lines.map((all) => sizeOf(all));
  const room = needs.map((need, i) => Math.min(need, budget * RULES[NAMES[i] as SectionName].share));
  let spare = budget - room.reduce((sum, one) => sum + one, 0);
  for (const [i, need] of needs.entries()) {
    const more = Math.min(spare, need - (room[i] ?? 0));
    room[i] = (room[i] ?? 0) + more;
    spare -= more;
  }
  const fitted = NAMES.map((name, i) => [name, cutLines(lines[i] ?? [], room[i] ?? 0, RULES[name].cut)] as const);
  return Object.fromEntries(fitted.filter(([, kept]) => kept.length > 0));
}

function cutLines(all: readonly string[], room: number, cut: SectionRule['cut']): readonly string[] {
  if (sizeOf(all) <= room) return all;
  if (cut === 'last') return all.slice(0, countFitting(all, room - HEADING_TOKENS));
  const lines = all.filter((line) => !LEFT_OUT.test(line));
  const spared = room - HEADING_TOKENS - LEFT_OUT_TOKENS;
  const first = cut === 'middle' && lineTokens(lines[0] ?? '') <= spared / 2 ? lines.slice(0, 1) : [];
  const newestFirst = lines.slice(first.length).reverse();
  const count = countFitting(newestFirst, spared - lineTokens(first[0] ?? ''));
  const shown = [...first, ...newestFirst.slice(0, count).reverse()];
  return shown.length === 0 ? [] : withLeftOut(shown, leftOut(all) + lines.length - shown.length);
}

function countFitting(lines: readonly string[], room: number): number {
  let used = 0;
  let count = 0;
  for (const line of lines) {
    used += lineTokens(line);
    if (used > room) return count;
    count += 1;
  }
  return count;
}

const HEADING_TOKENS = 4;

/** Heading and line breaks counted in. */
function sizeOf(lines: readonly string[]): number {
  return lines.length === 0 ? 0 : lines.reduce((sum, line) => sum + lineTokens(line), HEADING_TOKENS);
}

function lineTokens(line: string): number {
  return estimateTokens(line) + 1;
}

const LEFT_OUT = /^… (\d+) lines left out here$/;
const LEFT_OUT_TOKENS = 9;

function leftOut(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Number(LEFT_OUT.exec(line)?.[1] ?? 0), 0);
}

function withLeftOut(lines: readonly string[], gone: number): readonly string[] {
  return gone > 0 ? [`… ${gone} lines left out here`, ...lines] : lines;
}

function joinLeftOut(lines: readonly string[]): readonly string[] {
  return withLeftOut(
    lines.filter((line) => !LEFT_OUT.test(line)),
    leftOut(lines),
  );
}

// Owns which messages stay and which leave: the head, the newest, what began the turn under way, and the middle that goes. Pure.
// Invariant: a call and its results stay or leave together, and the order of what stays is the order it had. Seed 001 chapter 14.
import { isTurnStart } from '../count-turns.ts';
import type { StoredMessage } from '../session-store.ts';
import type { CompressionBudget } from './compression-budget.ts';
import { messageTokens } from './context-size.ts';
import { isSummary } from './summary.ts';

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
  const isAsked = (block: Block) =>
    block === asked && !tailBeginsTurn(blocks, tailStart) && block.tokens <= budget.tail;
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
    if (messages >= HEAD_MESSAGES || tokens > budget) return i;
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

/** Does the tail hold the beginning of the last turn itself? */
function tailBeginsTurn(blocks: readonly Block[], tailStart: number): boolean {
  return blocks.slice(tailStart).some((block) => isTurnStart(firstOf(block).message));
}

function firstOf(block: Block): StoredMessage {
  return block.messages[0] as StoredMessage;
}

function flatten(blocks: readonly Block[]): readonly StoredMessage[] {
  return blocks.flatMap((block) => block.messages);
}

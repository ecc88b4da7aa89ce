// Owns the gate of writes in mid-conversation (design 1): what a model writes after it read foreign words, and not in the owner's own, is
// the owner's to decide, who is shown where the words came from. Knows no tool and no file.
// Invariant: a session without the taint is asked nothing.

import type { JsonValue } from '#base/json.ts';
import type { Result } from '#base/result.ts';
import { isWholeUnit } from '#base/text/quotes.ts';
import { splitWords } from '#base/text/words.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { Risk, ToolContext } from '#core/agent/tool.ts';
import { isTainted, type Part } from '#core/model/message.ts';
import { messageHandle, readEvidence } from '../citations.ts';
import type { ProposalDraft } from '../proposal.ts';
import type { Citation } from '../trace-guard/claim.ts';

export interface KeptDraft {
  /** Under which it waits. */
  readonly id: string;
  /** It waited before. */
  readonly isKnown: boolean;
}

export interface ForegroundGate {
  /** `ask` where a person answers; elsewhere such a write waits. */
  readonly say: (sessionId: string) => 'ask' | 'draft';
  /** All of a session, oldest first. */
  readonly messagesOf: (sessionId: string) => readonly StoredMessage[];
  /** Keeps a change as a pending proposal, unless the same waits already. */
  readonly draft: (draft: ProposalDraft) => Promise<Result<KeptDraft>>;
}

/** What the owner decides on, each time: the change whole, then the words it came from. */
export function foreignRisk(preview: string, source: ForeignSource): Extract<Risk, { level: 'ask' }> {
  return {
    level: 'ask',
    reason: 'keeps what may come from text that you did not write',
    key: '',
    preview: `${preview}\n${sourceLines(source)}`,
  };
}

export function sourceLines({ from, line }: ForeignSource): string {
  return `Read before it was written, nearest to it (${from}):\n  "${line}"`;
}

/** What one write of a model rests on. */
export interface Grounds {
  /** Absent: nothing foreign stands in the session, or all of it is the owner's own. */
  readonly source?: ForeignSource;
  /** What the writer named, as far as it stands there, and the foreign words: `why` shows both. */
  readonly citations: readonly Citation[];
}

export interface AskedTexts {
  /** What would be kept, and what goes. */
  readonly texts: readonly string[];
  /** The writer's argument of that name. */
  readonly evidence?: JsonValue | undefined;
}

/** The taint is read from the live context; the store is asked once, where there is something to find. */
export function groundsOf(
  { messagesOf }: Pick<ForegroundGate, 'messagesOf'>,
  { sessionId, history }: Pick<ToolContext, 'sessionId' | 'history'>,
  { texts, evidence }: AskedTexts,
): Grounds {
  const tainted = isTainted(history());
  if (!tainted && evidence === undefined) return { citations: [] };
  const messages = messagesOf(sessionId);
  const source = tainted
    ? texts.map((text) => foreignBehind(text, messages)).find((one) => one !== undefined)
    : undefined;
  const ids = new Set(messages.map(({ id }) => messageHandle(id)));
  const named = readEvidence(evidence, messages).filter(({ handle }) => ids.has(handle));
  if (source === undefined) return { citations: named };
  return { source, citations: [...named, { handle: messageHandle(source.messageId), quote: source.line }] };
}

/** Where foreign words came into a conversation. */
export interface ForeignSource {
  /** Of the stored message. */
  readonly messageId: number;
  /** `read_file`, `web_fetch`, …, or what put it beside the owner's line. */
  readonly from: string;
  /** The line that has most in common with the text, cut. */
  readonly line: string;
}

const SHOWN = 200;
/** Characters of one text that are looked through. */
const MOST_READ = 1_000_000;

/**
 * What had been read in a tainted session when a model wrote this; undefined when the text is the owner's own: a whole message, line or
 * sentence of his. What a rule wrote copies the owner's words.
 */
function foreignBehind(text: string, messages: readonly StoredMessage[]): ForeignSource | undefined {
  const writer = messages.findLast(({ message }) => message.role === 'assistant')?.message;
  if (writer?.role === 'assistant' && writer.model.startsWith('reflex/')) return undefined;
  const parts = messages.flatMap(({ id, message }) => message.parts.map((part: Part) => ({ id, part })));
  const isOwned = ({ part }: { readonly part: Part }) =>
    part.type === 'text' && part.origin === 'owner' && isWholeUnit(text, part.text);
  if (parts.some(isOwned)) return undefined;
  const wanted = new Set(splitWords(text).filter((word) => word.length > 3));
  const lines = parts.flatMap(({ id, part }) => {
    const from = foreignFrom(part);
    return from === undefined || !('text' in part) ? [] : [bestLine(part.text, wanted, { messageId: id, from })];
  });
  const best = lines.reduce<ScoredLine | undefined>((a, b) => (a && a.score >= b.score ? a : b), undefined);
  // In the context, and not in the store any more.
  if (best === undefined) return { messageId: messages.at(-1)?.id ?? 0, from: 'this session', line: '' };
  return { messageId: best.messageId, from: best.from, line: best.line };
}

function foreignFrom(part: Part): string | undefined {
  if (part.origin !== 'foreign') return undefined;
  return part.type === 'tool-result' ? part.name : part.type === 'text' ? (part.label ?? 'text') : undefined;
}

interface ScoredLine extends ForeignSource {
  readonly score: number;
}

function bestLine(text: string, wanted: ReadonlySet<string>, place: Omit<ForeignSource, 'line'>): ScoredLine {
  let best: ScoredLine = { ...place, line: '', score: -1 };
  for (const line of text.slice(0, MOST_READ).split('\n')) {
    const score = new Set(splitWords(line).filter((word) => wanted.has(word))).size;
    if (score > best.score) best = { ...place, line: line.trim().slice(0, SHOWN), score };
  }
  return best;
}

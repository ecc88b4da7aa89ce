// Owns where cache marks go: `system_and_3`, the system prompt and the last three other messages, at most four marks.
// Knows no provider. Invariant: the input is never touched; without its marks the output equals the input. Seed 001 chapter 6.

export type CacheTtl = '5m' | '1h';

export interface CacheMark {
  readonly type: 'ephemeral';
  /** Absent means five minutes. */
  readonly ttl?: '1h';
}

export interface MarkableMessage {
  readonly role: string;
  readonly content?: string | readonly object[] | null;
}

const MAX_MARKS = 4;

export function cacheMark(ttl: CacheTtl): { type: 'ephemeral'; ttl?: '1h' } {
  return ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
}

/** Positions to mark: a leading system message, then the last messages that are not system ones: four in all, also where no system message leads. */
export function markedIndexes(roles: readonly string[]): readonly number[] {
  const system = roles[0] === 'system' ? [0] : [];
  const others = roles.flatMap((role, index) => (role === 'system' ? [] : [index]));
  return [...system, ...others.slice(-(MAX_MARKS - system.length))];
}

/** A copy with `cache_control` on the last content block of each marked message; text content becomes a block, no content marks the message. */
export function applyCacheMarks<M extends MarkableMessage>(messages: readonly M[], ttl: CacheTtl = '5m'): M[] {
  const marked = new Set(markedIndexes(messages.map((message) => message.role)));
  return messages.map((message, index) => {
    const copy = structuredClone(message);
    return marked.has(index) ? withMark(copy, cacheMark(ttl)) : copy;
  });
}

function withMark<M extends MarkableMessage>(message: M, mark: CacheMark): M {
  const { content } = message;
  if (typeof content === 'string' && content !== '') {
    return { ...message, content: [{ type: 'text', text: content, cache_control: mark }] };
  }
  if (Array.isArray(content) && content.length > 0) {
    const last: object = content.at(-1);
    return { ...message, content: [...content.slice(0, -1), { ...last, cache_control: mark }] };
  }
  return { ...message, cache_control: mark };
}

// Owns taking a leading `<think>` block out of an answer's text, for servers that leave it there. Knows nothing of calls.
// Invariant: any chunking gives the same split; only a block at the very start counts; an unclosed one is reasoning to the end.
import type { ModelEvent } from '../model-client.ts';

export interface ThinkSplitter {
  push(text: string): readonly ModelEvent[];
  end(): readonly ModelEvent[];
}

const OPENERS = ['<think>', '<thinking>'] as const;

/** What one look at the held text gives: events, the text still held, and the state to go on with. */
interface Look {
  readonly events: readonly ModelEvent[];
  readonly held: string;
  readonly next?: Reader;
}
type Reader = (held: string, final: boolean) => Look;

export function createThinkSplitter(): ThinkSplitter {
  let reader: Reader = readStart;
  let held = '';
  const run = (final: boolean): readonly ModelEvent[] => {
    const events: ModelEvent[] = [];
    for (;;) {
      const look = reader(held, final);
      events.push(...look.events);
      held = look.held;
      if (!look.next) return events;
      reader = look.next;
    }
  };
  return {
    push: (text) => {
      held += text;
      return run(false);
    },
    end: () => run(true),
  };
}

function readStart(held: string, final: boolean): Look {
  const decided = decide(held, final);
  if (!decided) return { events: [], held };
  const { opener } = decided;
  if (opener === undefined) return { events: [], held, next: readText };
  return { events: [], held: held.trimStart().slice(opener.length), next: readThinking(opener.replace('<', '</')) };
}

function readThinking(closer: string): Reader {
  return (held, final) => {
    const at = held.indexOf(closer);
    if (at !== -1) {
      return {
        events: take(held.slice(0, at), 'reasoning-delta'),
        held: held.slice(at + closer.length),
        next: readGap,
      };
    }
    const size = held.length - (final ? 0 : partialEnd(held, closer));
    return { events: take(held.slice(0, size), 'reasoning-delta'), held: held.slice(size) };
  };
}

/** The blank lines between the block and the answer belong to neither. */
function readGap(held: string): Look {
  const rest = held.trimStart();
  return rest === '' ? { events: [], held: rest } : { events: [], held: rest, next: readText };
}

function readText(held: string): Look {
  return { events: take(held, 'text-delta'), held: '' };
}

/** Undefined while the text may still become an opening tag. */
function decide(text: string, final: boolean): { readonly opener?: string } | undefined {
  const start = text.trimStart();
  const opener = OPENERS.find((tag) => start.startsWith(tag));
  if (opener !== undefined) return { opener };
  if (!final && OPENERS.some((tag) => tag.startsWith(start))) return undefined;
  return {};
}

function partialEnd(text: string, tag: string): number {
  for (let size = Math.min(tag.length - 1, text.length); size > 0; size -= 1)
    if (text.endsWith(tag.slice(0, size))) return size;
  return 0;
}

function take(text: string, type: 'reasoning-delta' | 'text-delta'): ModelEvent[] {
  return text === '' ? [] : [{ type, text }];
}

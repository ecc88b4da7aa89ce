/**
 * Owns the stream side of the text tool-call parser: `push` and `end`, for any chunking of the text with the same result.
 * It keeps only the text that is not decided yet. A held candidate is looked at again with every chunk as long as all
 * looks together stay within a few times the text, then only when it has grown by a quarter: linear for any chunking.
 * Never throws. Serves seed 001, "Tool-calling strategies".
 */
import { CallScanner } from './call-scanner.ts';
import { TextWindow } from './reading/text-window.ts';
import type { TextCallEvent, TextToolSchema } from './text-call.ts';
import { createToolCatalog } from './tool-catalog.ts';
import { VendorMarkFilter } from './vendor-mark.ts';

export interface TextCallParser {
  /** Takes the next piece of the model's text; returns what is certain by now. */
  push(chunk: string): TextCallEvent[];
  /** The text is complete; returns the rest. Further pushes are ignored. */
  end(): TextCallEvent[];
}

/** Looks that cost up to this many characters, and eight times the text, are free. */
const EAGER = 200_000;

export interface TextCallParserOptions {
  /** Leaves attempts that cannot be run in the text, for readers of the text alone; they are reported all the same. */
  readonly keepAttempts?: boolean;
}

export function createTextCallParser(
  tools: readonly TextToolSchema[],
  { keepAttempts = false }: TextCallParserOptions = {},
): TextCallParser {
  const scanner = new CallScanner(createToolCatalog(tools), keepAttempts);
  const marks = new VendorMarkFilter();
  let held = '';
  let retryAt = 0;
  let total = 0;
  let spent = 0;
  let ended = false;
  const run = (final: boolean): TextCallEvent[] => {
    spent += held.length;
    held = held.slice(scanner.scan(new TextWindow(held, final)));
    retryAt = held.length + (held.length >> 2);
    if (final) scanner.finish();
    return joinDeltas(scanner.takeEvents());
  };
  return {
    push: (chunk) => {
      if (ended || chunk === '') return [];
      held += marks.push(chunk);
      total += chunk.length;
      const eager = spent + held.length <= EAGER + 8 * total;
      return eager || held.length > retryAt ? run(false) : [];
    },
    end: () => {
      if (ended) return [];
      ended = true;
      held += marks.end();
      return run(true);
    },
  };
}

/** Neighbouring deltas of one kind as one. */
function joinDeltas(events: readonly TextCallEvent[]): TextCallEvent[] {
  const joined: TextCallEvent[] = [];
  for (let at = 0; at < events.length; ) {
    const event = events[at];
    if (event === undefined) break;
    if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') {
      joined.push(event);
      at += 1;
      continue;
    }
    const parts: string[] = [];
    for (let next = events[at]; next?.type === event.type; next = events[at]) {
      parts.push((next as { readonly text: string }).text);
      at += 1;
    }
    joined.push({ type: event.type, text: parts.join('') });
  }
  return joined;
}

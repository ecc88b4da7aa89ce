/**
 * Owns the stream side of the text tool-call parser: `push` and `end`, for any chunking of the text with the same result.
 * It keeps only the text that is not decided yet, and looks at a held candidate again only when it has grown by a quarter,
 * so that one-character chunks cost linear time too. Never throws. Serves seed 001, "Tool-calling strategies".
 */
import { CallScanner } from './call-scanner.ts';
import { TextWindow } from './reading/text-window.ts';
import type { TextCallEvent, TextToolSchema } from './text-call.ts';
import { createToolCatalog } from './tool-catalog.ts';

export interface TextCallParser {
  /** Takes the next piece of the model's text; returns what is certain by now. */
  push(chunk: string): TextCallEvent[];
  /** The text is complete; returns the rest. Further pushes are ignored. */
  end(): TextCallEvent[];
}

export function createTextCallParser(tools: readonly TextToolSchema[]): TextCallParser {
  const scanner = new CallScanner(createToolCatalog(tools));
  let held = '';
  let retryAt = 0;
  let ended = false;
  const run = (final: boolean): TextCallEvent[] => {
    held = held.slice(scanner.scan(new TextWindow(held, final)));
    retryAt = held.length + (held.length >> 2);
    return scanner.takeEvents();
  };
  return {
    push: (chunk) => {
      if (ended || chunk === '') return [];
      held += chunk;
      return held.length > retryAt ? run(false) : [];
    },
    end: () => {
      if (ended) return [];
      ended = true;
      const events = run(true);
      scanner.finish();
      return [...events, ...scanner.takeEvents()];
    },
  };
}

// Owns what a surface is that lives inside `talaria serve` beside the API: channels, pages. Implemented by gateway and web; the server mounts them.
// Knows none of them. Invariant: a part that is not set up opens nothing and loads nothing of its own.
import type { Ground } from '#core/agent/room.ts';
import type { App } from './app.ts';

export interface ServePart {
  /** Undefined: it is not set up. Throws TalariaError `held-elsewhere` where another program of the home has it. */
  open(app: App, ground: Ground, key: string): Promise<OpenPart | undefined>;
}

export interface OpenPart {
  /** For the line that says what is served: `telegram`, `the pages at /`. */
  readonly shown: string;
  /** First segments of paths that it answers, without the API's key: it asks for what it needs itself. Empty segment: `/`. */
  readonly paths: readonly string[];
  /** Host and Origin are looked at before it is asked, as for the API. */
  readonly isGuarded?: true;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Until the signal aborts. Throws where no trying helps. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

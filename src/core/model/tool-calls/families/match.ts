/**
 * Owns what a matcher gets and may answer. A matcher looks at one position and says what stands there, or null; it
 * keeps no state and never decides about streaming (the window does). Knows no format.
 */

import type { ProseContext } from '../prose-context.ts';
import type { WrittenCall } from '../reading/call-of-value.ts';
import { readTag } from '../reading/tag.ts';
import type { TextWindow } from '../reading/text-window.ts';
import { tagRole } from '../tables/tag-roles.ts';
import type { Found, MalformedReason } from '../text-call.ts';
import type { ToolCatalog } from '../tool-catalog.ts';

export interface MatchContext {
  readonly win: TextWindow;
  readonly catalog: ToolCatalog;
  readonly prose: ProseContext;
}

/**
 * `calls`: calls and malformed attempts, removed from the text unless `keep`. `drop`: a leaked token. `reasoning`: reasoning begins and
 * lasts to one of `closers` (or, kept in the text, `stops`). `reclassify`: all so far was reasoning. `result`: an invented tool result. `foreign-turn`:
 * the model goes on as somebody else. `code`: text up to `end`, then a code block until its `fence` closes. `text`: as it is.
 */
export type Match =
  | { readonly kind: 'calls'; readonly end: number; readonly found: readonly Found[]; readonly keep?: boolean }
  | { readonly kind: 'drop' | 'reclassify' | 'result' | 'foreign-turn' | 'text'; readonly end: number }
  | {
      readonly kind: 'reasoning';
      readonly end: number;
      readonly closers: readonly string[];
      readonly stops?: readonly string[];
    }
  | { readonly kind: 'code'; readonly end: number; readonly fence: string };

export type Matcher = (context: MatchContext, pos: number) => Match | null;

/** What a reader of one call (or list of calls) found; null means that no call begins there. */
export type UnitRead =
  | { readonly ok: true; readonly calls: readonly WrittenCall[]; readonly end: number }
  | { readonly ok: false; readonly truncated: boolean; readonly written: string | null }
  | null;

const RAW_LIMIT = 2_000;
const STOP_ROLES = new Set(['call-open', 'call-close', 'noise', 'turn', 'result']);

export function foundOf(call: WrittenCall, raw: string): Found {
  if (call.tool) return { kind: 'call', call: { name: call.tool.name, arguments: call.arguments } };
  return malformed('unknown-tool', call.written, raw);
}

export function malformed(reason: MalformedReason, name: string | null, raw: string): Found {
  return { kind: 'malformed', malformed: { reason, name, raw: raw.slice(0, RAW_LIMIT) } };
}

const NAMED = /["']?(?:name|tool_name|function|tool|action)["']?\s*:\s*["']([^"'\n]{1,100})["']/;

/** The name in a call object that cannot be read as a whole, or null. */
export function writtenName(raw: string): string | null {
  return NAMED.exec(raw.slice(0, 300))?.[1] ?? null;
}

/** True where a tag, special token or fence stands that no value can contain: open brackets end there. */
export function isStopAt(win: TextWindow, at: number): boolean {
  const code = win.code(at);
  if (code === 96) return win.startsWith('```', at);
  if (code !== 60 && code !== 91) return false;
  // No value begins or goes on with a closing tag, however it is spelled.
  if (code === 60 && win.code(at + 1) === 47) return true;
  const tag = readTag(win, at);
  return tag !== null && (STOP_ROLES.has(tagRole(tag.name)) || (code === 60 && tag.closing));
}

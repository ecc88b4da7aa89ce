/**
 * Owns the channel headers of gpt-oss (`<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`)
 * and the recipient headers of Functionary (`<|recipient|>name\n<|content|>…`, `>>>name\n…`). A header with a recipient is
 * a call, the analysis channel is reasoning, any other header is a leaked token. Headers are at most 300 characters.
 */
import { lacksArguments } from '../reading/call-of-value.ts';
import type { Tag } from '../reading/tag.ts';
import { readValue } from '../reading/value-reader.ts';
import { type DeclaredTool, isRecord } from '../tool-catalog.ts';
import { readCallBody } from './call-body.ts';
import { foundOf, isStopAt, type Match, type MatchContext, malformed } from './match.ts';

const MAX_HEADER = 300;
const RECIPIENT = /\bto=\s*([\w.\-:/]+)/;
const ANALYSIS_CLOSERS = ['<|end|>', '<|return|>', '<|call|>', 'assistantfinal'];
const ANALYSIS_STOPS = ['<|channel|>', '<|start|>'];
const BODY_MARKS = ['<|message|>', '<|content|>'];

/** `tag` is `<|start|>`, `<|channel|>`, `<|from|>` or `<|recipient|>` at `pos`. */
export function matchHeader(context: MatchContext, tag: Tag): Match | null {
  const header = readHeader(context, tag.end);
  if (!header) return { kind: 'drop', end: tag.end };
  const { text, end } = header;
  const recipient = RECIPIENT.exec(text)?.[1] ?? (tag.name === 'recipient' ? text.trim().split(/\s/)[0] : undefined);
  if (recipient !== undefined && recipient !== 'all' && recipient !== 'user')
    return recipientCall(context, recipient, end);
  if (/\banalysis\b/.test(text)) return { kind: 'reasoning', end, closers: ANALYSIS_CLOSERS, stops: ANALYSIS_STOPS };
  if (/^\s*(?:functions\.|tool)/.test(text)) return { kind: 'result', end };
  return /^\s*(?:user|system|developer)\b/.test(text) ? { kind: 'foreign-turn', end } : { kind: 'drop', end };
}

/** The header between a start token and its body; null when no body mark comes in time. */
function readHeader({ win }: MatchContext, start: number): { text: string; end: number } | null {
  let at = start;
  while (at < start + MAX_HEADER) {
    const char = win.char(at);
    if (char === '') return null;
    const mark = char === '<' ? BODY_MARKS.find((candidate) => win.startsWith(candidate, at)) : undefined;
    if (mark)
      return {
        text: win
          .slice(start, at)
          .replace('<|recipient|>', ' to=')
          .replace(/<\|\w+\|>/g, ' '),
        end: at + mark.length,
      };
    if (char === '{') return null;
    at += 1;
  }
  return null;
}

function recipientCall(context: MatchContext, written: string, pos: number): Match {
  const { win, catalog } = context;
  const start = win.skipSpace(pos);
  const read = readValue(win, start, { bare: true, isStop: (at) => isStopAt(win, at) || win.startsWith('<|', at) });
  const tool = catalog.resolve(written);
  const call = read.ok && isRecord(read.value) ? { written, tool, arguments: read.value } : null;
  if (call && read.ok) {
    const raw = win.slice(pos, read.end);
    const cut = read.cut && lacksArguments(call);
    return { kind: 'calls', end: read.end, found: [cut ? malformed('truncated', written, raw) : foundOf(call, raw)] };
  }
  return otherBody(context, { written, tool, pos, truncated: !read.ok && read.truncated });
}

interface OtherBody {
  readonly written: string;
  readonly tool: DeclaredTool | null;
  readonly pos: number;
  readonly truncated: boolean;
}

/** A body that is no object: a call in another notation, the plain text of the only argument, or nothing readable. */
function otherBody(context: MatchContext, { written, tool, pos, truncated }: OtherBody): Match {
  const { win } = context;
  const start = win.skipSpace(pos);
  const body = readCallBody(context, start);
  if (body.found.length > 0) return { kind: 'calls', end: body.end, found: body.found };
  const close = win.find('<|', start);
  const end = close === -1 ? win.text.length : close;
  const only = tool?.properties.size === 1 ? [...tool.properties.keys()][0] : undefined;
  const text = win.slice(start, end).trim();
  if (tool && only !== undefined && !/^[{[]/.test(text))
    return { kind: 'calls', end, found: [foundOf({ written, tool, arguments: { [only]: text } }, '')] };
  const reason = truncated ? 'truncated' : 'unparsable';
  return { kind: 'calls', end, found: [malformed(reason, written, win.slice(pos, end))] };
}

/** `>>>name\n{…}`, also glued to text, and `>>>all\n…` at the start of a line. */
export function matchChevrons(context: MatchContext, pos: number): Match | null {
  const { win, prose } = context;
  if (!win.startsWith('>>>', pos)) return null;
  const written = win.identifier(pos + 3);
  const end = pos + 3 + written.length;
  if (written === 'all' && prose.atLineStart && win.char(win.skipBlank(end)) === '\n') return { kind: 'drop', end };
  if (!context.catalog.resolve(written) || (!prose.atLineStart && win.char(end) !== '\n')) return null;
  const start = win.skipSpace(end);
  return win.char(start) === '{' && prose.inlineRun === 0 ? recipientCall(context, written, end) : null;
}

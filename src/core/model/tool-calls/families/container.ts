/**
 * Owns calls between container tags (`<tool_call>`, `[TOOL_CALLS]`, `<|python_tag|>`, …) and call elements that stand
 * without one (`<function=…>`, `<invoke …>`). A container whose body is no call is text, or, if it is a special token or
 * empty, a leaked one. Unknown names and unreadable bodies become malformed attempts.
 */
import { asText, endsMessage, isContainedExample, isMentioned, isQuoted, standsAlone } from '../prose-guard.ts';
import { readDamagedCloser } from '../reading/damaged-closer.ts';
import type { Tag } from '../reading/tag.ts';
import { SOFT_CONTAINERS } from '../tables/tag-roles.ts';
import type { Found } from '../text-call.ts';
import { type BodyRead, readCallBody } from './call-body.ts';
import { elementName, readElementCall } from './element-call.ts';
import { foundOf, type Match, type MatchContext, malformed } from './match.ts';

const BARE_OPENER = /^(?:seed:|minimax:)?(?:tool|function)_calls?$/;

/** `tag` is an opening container tag at `pos`. */
export function matchContainer(context: MatchContext, pos: number, tag: Tag): Match | null {
  if (elementName(tag) !== '') return matchElement(context, pos, tag);
  const body = readCallBody(context, tag.end);
  if (body.found.length === 0) return emptyContainer(context, tag, body);
  const attempted = body.found.every(({ kind }) => kind === 'malformed');
  if (attempted && (!isAttempt(context, tag) || body.found.some(isTemplate))) return asText(body.end);
  return contained(context, body.end, body.found);
}

/** `tool_call>` at the start of a line: the opener lost its first character. Only calls count behind it. */
export function matchBareOpener(context: MatchContext, pos: number): Match | null {
  const { win } = context;
  const word = win.identifier(pos);
  const end = pos + word.length + 1;
  if (!BARE_OPENER.test(word) || win.char(end - 1) !== '>') return null;
  const name = word.replace(/^\w+:/, '');
  const tag = { name, closing: false, special: false, value: '', attributes: '', closer: `</${word}>`, end };
  const match = matchContainer(context, pos, tag);
  return match?.kind === 'calls' && match.found.every(({ kind }) => kind === 'call') ? match : null;
}

/** A body without a proper call is an attempt, and no prose about the format, at the start of a line or in special tokens. */
function isAttempt({ prose }: MatchContext, tag: Tag): boolean {
  return tag.special || (prose.atLineStart && !SOFT_CONTAINERS.has(tag.name));
}

/** `{"name": <function-name>, …}`: the format is explained, nothing is called. */
function isTemplate(item: Found): boolean {
  return item.kind === 'malformed' && /:\s*<[a-z][\w -]*>/i.test(item.malformed.raw);
}

/** Calls in a container, unless quoted. Text about undeclared tools alone is reported and stays text. */
function contained(context: MatchContext, end: number, found: readonly Found[]): Match {
  if (isContainedExample(context, end)) return asText(end);
  const keep = found.every((item) => item.kind === 'malformed' && item.malformed.reason === 'unknown-tool');
  return { kind: 'calls', end, found, keep };
}

/** A run of openers this long is passed as a whole, or each of them would look at the rest of the run again. */
const LONG_RUN = 64;

function emptyContainer(context: MatchContext, tag: Tag, body: BodyRead): Match | null {
  if (isMentioned(context, tag.end)) return null;
  const leaked = tag.special || context.prose.afterCall || (body.ending === 'closed' && context.prose.atLineStart);
  const whole = body.ending === 'closed' || body.end - tag.end > LONG_RUN;
  if (leaked && !isQuoted(context, tag.end)) return { kind: 'drop', end: whole ? body.end : tag.end };
  return whole && body.ending === 'open' ? asText(body.end) : null;
}

/** A call element without a container; an undeclared name is an attempt only in the spelling that no HTML has. */
export function matchElement(context: MatchContext, pos: number, tag: Tag): Match | null {
  const { win, catalog, prose } = context;
  const written = elementName(tag);
  if (written === '') return null;
  if (!catalog.resolve(written) && (tag.value === '' || !prose.atLineStart)) return null;
  const unit = readElementCall(context, tag, written);
  if (!unit) return null;
  if (unit.ok)
    return contained(
      context,
      unit.end,
      unit.calls.map((call) => foundOf(call, win.slice(pos, unit.end))),
    );
  const end = unit.truncated ? win.text.length : win.lineEnd(pos);
  return contained(context, end, [
    malformed(unit.truncated ? 'truncated' : 'unparsable', written, win.slice(pos, end)),
  ]);
}

/** `<get_weather><city>Paris</city></get_weather>`: only alone on its line, and with declared children. */
export function matchToolElement(context: MatchContext, tag: Tag): Match | null {
  const tool = tag.special || tag.closing ? null : context.catalog.resolve(tag.name);
  if (!tool || !context.prose.atLineStart) return null;
  const unit = readElementCall(context, tag, tool.name);
  if (!unit?.ok || !unit.calls.every((call) => Object.keys(call.arguments).length > 0)) return null;
  return contained(
    context,
    unit.end,
    unit.calls.map((call) => foundOf(call, '')),
  );
}

/** `<code>` with nothing but calls of declared tools in it, the last thing of the message (SmolLM3). */
export function matchCodeElement(context: MatchContext, tag: Tag): Match | null {
  const { win, prose } = context;
  if (tag.name !== 'code' || tag.special || tag.attributes !== '' || !prose.atLineStart) return null;
  const body = readCallBody(context, tag.end, { strict: true, fenced: true });
  const close = win.skipSpace(body.end);
  const closer = readDamagedCloser(win, close);
  if (body.found.length === 0 || !(win.isEnd(close) || closer?.word === 'code')) return null;
  const end = closer?.end ?? close;
  const called = body.found.every(({ kind }) => kind === 'call') && endsMessage(win, end) && standsAlone(context, end);
  return called ? { kind: 'calls', end, found: body.found } : asText(end);
}

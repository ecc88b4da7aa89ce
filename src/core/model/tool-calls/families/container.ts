/**
 * Owns calls between container tags (`<tool_call>`, `[TOOL_CALLS]`, `<|python_tag|>`, …) and call elements that stand
 * without one (`<function=…>`, `<invoke …>`). A container whose body is no call is text, or, if it is a special token or
 * empty, a leaked one. Unknown names and unreadable bodies become malformed attempts.
 */
import { isContainedExample, isQuoted } from '../prose-guard.ts';
import type { Tag } from '../reading/tag.ts';
import { SOFT_CONTAINERS } from '../tables/tag-roles.ts';
import { isRecord } from '../tool-catalog.ts';
import { type BodyRead, readCallBody } from './call-body.ts';
import { elementName, readElementCall } from './element-call.ts';
import { foundOf, type Match, type MatchContext, malformed } from './match.ts';

/** `tag` is an opening container tag at `pos`. */
export function matchContainer(context: MatchContext, pos: number, tag: Tag): Match | null {
  if (elementName(tag) !== '') return matchElement(context, pos, tag);
  const body = readCallBody(context, tag.end);
  if (body.found.length === 0) return emptyContainer(context, tag, body);
  const onlyMalformed = body.found.every(({ kind }) => kind === 'malformed');
  if (onlyMalformed && (SOFT_CONTAINERS.has(tag.name) || !context.prose.atLineStart) && !tag.special)
    return refused(body.end);
  return isContainedExample(context, body.end)
    ? { kind: 'text', end: body.end }
    : { kind: 'calls', end: body.end, found: body.found };
}

/** A malformed body in mid-sentence is prose about the format, unless the sentence ends with it. */
function refused(end: number): Match {
  return { kind: 'text', end: Math.max(end, 1) };
}

function emptyContainer(context: MatchContext, tag: Tag, body: BodyRead): Match | null {
  const leaked = tag.special || context.prose.afterCall || (body.ending === 'closed' && context.prose.atLineStart);
  if (!leaked || isQuoted(context, tag.end)) return null;
  return { kind: 'drop', end: body.ending === 'closed' ? body.end : tag.end };
}

/** A call element without a container around it; an undeclared name is an attempt only in the spellings that no HTML has. */
export function matchElement(context: MatchContext, pos: number, tag: Tag): Match | null {
  const written = elementName(tag);
  if (written === '') return null;
  const declared = context.catalog.resolve(written) !== null;
  if (!declared && (tag.value === '' || !context.prose.atLineStart)) return null;
  const unit = readElementCall(context, tag, written);
  if (!unit) return null;
  if (!unit.ok) {
    const end = context.win.text.length;
    const limit = unit.truncated ? end : context.win.lineEnd(pos);
    if (context.win.isEnd(end) && isQuoted(context, limit)) return null;
    return {
      kind: 'calls',
      end: limit,
      found: [malformed(unit.truncated ? 'truncated' : 'unparsable', written, context.win.slice(pos, limit))],
    };
  }
  if (isContainedExample(context, unit.end)) return { kind: 'text', end: unit.end };
  return {
    kind: 'calls',
    end: unit.end,
    found: unit.calls.map((call) => foundOf(call, context.win.slice(pos, unit.end))),
  };
}

/** `<get_weather><city>Paris</city></get_weather>`: only alone on its line, and with declared children. */
export function matchToolElement(context: MatchContext, tag: Tag): Match | null {
  const tool = tag.special || tag.closing ? null : context.catalog.resolve(tag.name);
  if (!tool || !context.prose.atLineStart) return null;
  const unit = readElementCall(context, tag, tool.name);
  if (!unit?.ok || !unit.calls.every((call) => isRecord(call.arguments) && Object.keys(call.arguments).length > 0))
    return null;
  if (isContainedExample(context, unit.end)) return { kind: 'text', end: unit.end };
  return { kind: 'calls', end: unit.end, found: unit.calls.map((call) => foundOf(call, '')) };
}

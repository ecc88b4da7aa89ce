// Owns what a tag, special token or fence at the top level means: a container of calls, a call element, reasoning, an invented result, the header
// of a turn, a leaked token. A container whose body is no call is text, or, if it is special or empty, a leaked token; unknown names and unreadable
// bodies become malformed attempts. Tokens in inline code or between quotation marks, and everyday markup (`<output>`, `<s>`), are text. A fence of a
// call language is a container, a `json` or unnamed one counts like bare JSON, any other only as the whole message; else nothing in it is a call.

import { matchHeader } from './announced-calls.ts';
import { type BodyRead, isAllCalls, readCallBody } from './call-body.ts';
import type { Found } from './call-of-value.ts';
import { elementName, readElementCall } from './elements.ts';
import {
  announcesExample,
  asText,
  attempt,
  endsMessage,
  foundOf,
  isContainedExample,
  isMentioned,
  isQuoted,
  type Match,
  type MatchContext,
  standsAlone,
} from './prose.ts';
import { SOFT_CONTAINERS, type Speaker, speakerOf, type TagRole, tagRole } from './tables.rules.ts';
import { isCallWord, readDamagedCloser, readTag, type Tag, type TextWindow } from './window.ts';

const BARE_OPENER = /^(?:seed:|minimax:)?(?:tool|function)_calls?$/;

/** `tag` is an opening container tag at `pos`. */
function matchContainer(context: MatchContext, pos: number, tag: Tag): Match | null {
  if (elementName(tag) !== '') return matchElement(context, pos, tag);
  const body = readCallBody(context, tag.end);
  if (body.found.length === 0) return emptyContainer(context, tag, body);
  const attempted = body.found.every(({ kind }) => kind === 'malformed');
  // A body without a proper call is an attempt, and no prose about the format, at the start of a line or in special tokens.
  const isAttempt = tag.special || (context.prose.atLineStart && !SOFT_CONTAINERS.has(tag.name));
  if (attempted && (!isAttempt || body.found.some(isTemplate))) return asText(body.end);
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
  return match?.kind === 'calls' && isAllCalls(match.found) ? match : null;
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
  const { afterCall, atLineStart } = context.prose;
  const leaked = tag.special || afterCall || (!body.open && atLineStart);
  const whole = !body.open || body.end - tag.end > LONG_RUN;
  if (leaked && !isQuoted(context, tag.end)) return drop(whole ? body.end : tag.end);
  return whole && body.open ? asText(body.end) : null;
}

function drop(end: number): Match {
  return { kind: 'drop', end };
}

/** A call element without a container; an undeclared name is an attempt only in the spelling that no HTML has. */
function matchElement(context: MatchContext, pos: number, tag: Tag): Match | null {
  const { win, catalog, prose } = context;
  const written = elementName(tag);
  if (written === '' || (!catalog.resolve(written) && (tag.value === '' || !prose.atLineStart))) return null;
  const unit = readElementCall(context, tag, written);
  if (unit?.ok) {
    const raw = win.slice(pos, unit.end);
    return contained(
      context,
      unit.end,
      unit.calls.map((call) => foundOf(call, raw)),
    );
  }
  const end = unit?.truncated ? win.text.length : win.lineEnd(pos);
  return unit && contained(context, end, [attempt(unit.truncated, written, win.slice(pos, end))]);
}

/** `<get_weather><city>Paris</city></get_weather>`: only alone on its line, and with declared children. */
function matchToolElement(context: MatchContext, tag: Tag): Match | null {
  const tool = tag.special ? null : context.catalog.resolve(tag.name);
  const unit = tool && context.prose.atLineStart ? readElementCall(context, tag, tool.name) : null;
  if (!unit?.ok || !unit.calls.every((call) => Object.keys(call.arguments).length > 0)) return null;
  return contained(
    context,
    unit.end,
    unit.calls.map((call) => foundOf(call, '')),
  );
}

/** `<code>` with nothing but calls of declared tools in it, the last thing of the message (SmolLM3). */
function matchCodeElement(context: MatchContext, tag: Tag): Match | null {
  const { win, prose } = context;
  if (tag.name !== 'code' || tag.special || tag.attributes !== '' || !prose.atLineStart) return null;
  const { found, end: bodyEnd } = readCallBody(context, tag.end, { strict: true, fenced: true });
  const close = win.skipSpace(bodyEnd);
  const closer = readDamagedCloser(win, close);
  if (found.length === 0 || !(win.isEnd(close) || closer?.word === 'code')) return null;
  const end = closer?.end ?? close;
  const called = isAllCalls(found) && endsMessage(win, end) && standsAlone(context, end);
  return called ? { kind: 'calls', end, found } : asText(end);
}

const CALL_LANGUAGES =
  /^(?:tool_code|tool-code|toolcode|tool_call|tool_calls|toolcall|tool_use|tool|tools|function_call|function_calls|functioncall|function|functions|action|call)$/i;
const DATA_LANGUAGES = /^(?:json|jsonc|json5|jsonl|js|javascript|plaintext|)$/i;
const RESULT_LANGUAGES =
  /^(?:tool_output|tool_outputs|tool_response|tool_result|tool_results|observation|function_response|function_result|output)$/i;
const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+\S/;

/** A run of three or more backticks stands at `pos`. */
export function matchFence(context: MatchContext, pos: number): Match | null {
  const { win, prose } = context;
  const runEnd = win.runEnd(pos);
  const language = win.identifier(runEnd);
  const start = runEnd + language.length;
  if (RESULT_LANGUAGES.test(language) && prose.calls > 0 && (prose.afterCall || language !== 'output')) {
    const close = win.find('\n```', start);
    return { kind: 'result', end: close === -1 ? win.text.length : close + 4 };
  }
  return fencedCalls(context, language, start) ?? codeBlock(win, start, win.slice(pos, runEnd));
}

function fencedCalls(context: MatchContext, language: string, start: number): Match | null {
  const { win, prose } = context;
  const called = CALL_LANGUAGES.test(language);
  const isData = called || DATA_LANGUAGES.test(language);
  if (!isData && prose.hasText) return null;
  const { found, end, open } = readCallBody(context, start, { strict: !called, fenced: true });
  const read = called ? found.length > 0 : isAllCalls(found) && !LIST_ITEM.test(prose.line);
  // The body ended at its fence, or the text ended before one.
  const closed = !open && (win.slice(end - 3, end) === '```' || win.isEnd(win.skipSpace(end)));
  if (!read || !closed || (!isData && !endsMessage(win, end))) return null;
  return announcesExample(context) || isQuoted(context, end) ? null : { kind: 'calls', end, found };
}

function codeBlock(win: TextWindow, start: number, run: string): Match {
  const line = win.lineEnd(start);
  const inline = win.slice(start, line).indexOf(run);
  return inline === -1 ? { kind: 'code', end: line, fence: run } : asText(start + inline + run.length);
}

type TagMatcher = (context: MatchContext, tag: Tag, pos: number) => Match | null;

const HEADERS = new Set(['channel', 'start', 'from', 'recipient']);
const LEAKED = new Set(['end', 'call', 'content']);
/** Leaked tokens that are spelled like markup. */
const PLAIN_NOISE = new Set('s bos eos pad unk end_of_turn start_of_turn end_of_utterance gmask sop'.split(' '));
const RESULT_WORDS = new Set('result results response output observation observations'.split(' '));
const TAG_WORDS = /^(?:tags?|tokens?|markers?|elements?|blocks?|delimiters?)$/i;
/** Reasoning that was never closed ends with the turn. */
const REASONING_STOPS = [
  ...['<|im_end|>', '<|im_start|>', '<|eot_id|>', '<end_of_turn>'],
  '<\uff5cend\u2581of\u2581sentence\uff5c>',
];
const MAX_ROLE = 24;

const BY_ROLE: Readonly<Record<TagRole, TagMatcher>> = {
  'call-open': (context, tag, pos) => (tag.closing ? strayCloser(context, tag) : matchContainer(context, pos, tag)),
  'call-close': strayCloser,
  separator: ({ prose }, tag) => (tag.special && prose.afterCall ? drop(tag.end) : null),
  reasoning: matchReasoning,
  result: matchResult,
  turn: matchTurn,
  noise: (context, tag) => (isToken(tag) && !isMentioned(context, tag.end) ? drop(tag.end) : null),
  none: (context, tag, pos) =>
    tag.closing
      ? foreignCloser(context, pos)
      : (matchElement(context, pos, tag) ?? matchToolElement(context, tag) ?? matchCodeElement(context, tag)),
};

export function matchToken(context: MatchContext, pos: number): Match | null {
  const tag = readTag(context.win, pos);
  if (!tag) return foreignCloser(context, pos);
  const match = specialMatch(context, tag) ?? BY_ROLE[tagRole(tag.name)](context, tag, pos);
  if (!match || match.kind === 'calls' || match.kind === 'text') return match;
  return isQuoted(context, tag.end) ? null : match;
}

function isToken(tag: Tag): boolean {
  return tag.special || PLAIN_NOISE.has(tag.name);
}

const TRIANGLES = { open: '\u25c1think\u25b7', close: '\u25c1/think\u25b7' };

/** Kimi's `◁think▷ … ◁/think▷`. */
export function matchTriangle({ win }: MatchContext, pos: number): Match | null {
  const { open, close } = TRIANGLES;
  if (win.startsWith(open, pos)) return { kind: 'reasoning', end: pos + open.length, closers: [close] };
  return win.startsWith(close, pos) ? { kind: 'reclassify', end: pos + close.length } : null;
}

function specialMatch(context: MatchContext, tag: Tag): Match | null {
  if (!tag.special) return null;
  const { win } = context;
  if (tag.name === 'channel' && tag.closing) return drop(tag.end);
  // Gemma's `<|channel>thought … <channel|>`
  const word = win.skipSpace(tag.end);
  if (tag.name === 'channel' && win.startsWith('thought', word))
    return { kind: 'reasoning', end: word + win.identifier(word).length, closers: ['<channel|>', '<|channel|>'] };
  if (HEADERS.has(tag.name)) return matchHeader(context, tag);
  if (LEAKED.has(tag.name)) return drop(tag.end);
  const speaker = tagRole(tag.name) === 'result' ? undefined : speakerOf(tag.name);
  return speaker === undefined ? null : turnOf(context, speaker, tag.end);
}

/** Behind a call: a closer that is damaged or that no format has (`</function_invocation>`). */
function foreignCloser({ win, prose }: MatchContext, pos: number): Match | null {
  const closer = prose.afterCall ? readDamagedCloser(win, pos) : null;
  return closer && isCallWord(closer.word) ? drop(closer.end) : null;
}

function strayCloser(context: MatchContext, tag: Tag): Match | null {
  const { win, prose } = context;
  if (isMentioned(context, tag.end)) return null;
  const isLeaked = tag.special || prose.afterCall || prose.atLineStart;
  return isLeaked || /^\n?$/.test(win.char(win.skipBlank(tag.end))) ? drop(tag.end) : null;
}

/** An opening tag begins reasoning at the start of a line, elsewhere only if it is closed somewhere. */
function matchReasoning({ win, prose }: MatchContext, tag: Tag, pos: number): Match | null {
  const { end } = tag;
  if (!prose.atLineStart && TAG_WORDS.test(win.identifier(win.skipBlank(end)))) return null;
  if (tag.closing || tag.name === 'end_thinking') return { kind: 'reclassify', end };
  const opener = win.slice(pos, end);
  const closers = [tag.closer];
  if (opener.includes('START_')) closers.push(opener.replace('START_', 'END_'));
  if (opener.startsWith('<|')) closers.push(opener.replace('<|', '<|/'), opener.replace('<|', '</'));
  if (prose.atLineStart || tag.special) return { kind: 'reasoning', end, closers, stops: REASONING_STOPS };
  return closers.some((closer) => win.find(closer, end) !== -1) ? { kind: 'reasoning', end, closers } : null;
}

/** Invented results follow a call; before any call such a tag is text. */
function matchResult({ win, prose }: MatchContext, tag: Tag): Match | null {
  if (prose.calls === 0) return null;
  if (tag.closing) return drop(tag.end);
  if (RESULT_WORDS.has(tag.name) && !tag.special && !prose.atLineStart && !prose.afterCall) return null;
  const plain = tag.closer.replace('</', '<');
  const closers = [
    ...[tag.closer, tag.closer.replace('START_', 'END_')],
    ...[plain.replace('start_', 'end_'), plain.replace('begin', 'end')],
  ];
  const ends = closers.flatMap((closer) => {
    const at = win.find(closer, tag.end);
    return at === -1 ? [] : [{ at, end: at + closer.length }];
  });
  return { kind: 'result', end: ends.sort((a, b) => a.at - b.at)[0]?.end ?? tag.end };
}

/** `<|im_start|>role\n`, `<|start_header_id|>role<|end_header_id|>`, `<start_of_turn>role\n` */
function matchTurn(context: MatchContext, tag: Tag): Match | null {
  const { win } = context;
  if (!isToken(tag) || isMentioned(context, tag.end)) return null;
  const start = win.skipBlank(tag.end);
  const word = tag.closing ? '' : win.identifier(start).toLowerCase();
  const speaker = word.length > MAX_ROLE ? undefined : speakerOf(word);
  if (speaker === undefined) return drop(tag.end);
  const end = start + word.length;
  const next = readTag(win, end);
  return turnOf(context, speaker, next?.name === 'end_header_id' || next?.name === 'end_of_role' ? next.end : end);
}

function turnOf({ prose }: MatchContext, speaker: Speaker, end: number): Match {
  if (speaker === 'assistant') return drop(end);
  return { kind: speaker === 'tool' && prose.calls > 0 ? 'result' : 'foreign-turn', end };
}

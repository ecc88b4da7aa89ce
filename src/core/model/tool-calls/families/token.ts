/**
 * Owns what a tag or special token at the top level means: container, call element, reasoning, invented result, the
 * header of a turn, a leaked token. Tokens in inline code or between quotation marks are text. Everyday markup that only
 * shares a name with a token (`<output>`, `<s>`) is text unless its surroundings prove otherwise.
 */
import { isMentioned, isQuoted } from '../prose-guard.ts';
import { isCallWord, readDamagedCloser } from '../reading/damaged-closer.ts';
import { readTag, type Tag } from '../reading/tag.ts';
import { ROLE_TOKENS, type TagRole, tagRole } from '../tables/tag-roles.ts';
import { matchCodeElement, matchContainer, matchElement, matchToolElement } from './container.ts';
import { matchHeader } from './harmony.ts';
import type { Match, MatchContext } from './match.ts';

type TagMatcher = (context: MatchContext, pos: number, tag: Tag) => Match | null;

const HEADERS = new Set(['channel', 'start', 'from', 'recipient']);
/** Leaked tokens that are spelled like markup. */
const PLAIN_NOISE = new Set([
  's',
  'bos',
  'eos',
  'pad',
  'unk',
  'end_of_turn',
  'start_of_turn',
  'end_of_utterance',
  'gmask',
  'sop',
]);
const RESULT_WORDS = new Set(['result', 'results', 'response', 'output', 'observation', 'observations']);
const TAG_WORDS = /^(?:tags?|tokens?|markers?|elements?|blocks?|delimiters?)$/i;
/** Reasoning that was never closed ends with the turn. */
const REASONING_STOPS = [
  '<|im_end|>',
  '<|im_start|>',
  '<|eot_id|>',
  '<end_of_turn>',
  '<\uff5cend\u2581of\u2581sentence\uff5c>',
];
const MAX_ROLE = 24;
const TRIANGLES = { open: '\u25c1think\u25b7', close: '\u25c1/think\u25b7' };

const BY_ROLE: Readonly<Record<TagRole, TagMatcher>> = {
  'call-open': (context, pos, tag) => (tag.closing ? strayCloser(context, tag) : matchContainer(context, pos, tag)),
  'call-close': (context, _pos, tag) => strayCloser(context, tag),
  separator: (context, _pos, tag) => (tag.special && context.prose.afterCall ? { kind: 'drop', end: tag.end } : null),
  reasoning: (context, pos, tag) => matchReasoning(context, pos, tag),
  result: (context, _pos, tag) => matchResult(context, tag),
  turn: (context, _pos, tag) => matchTurn(context, tag),
  noise: (context, _pos, tag) =>
    (tag.special || PLAIN_NOISE.has(tag.name)) && !isMentioned(context, tag.end)
      ? { kind: 'drop', end: tag.end }
      : null,
  none: (context, pos, tag) =>
    tag.closing
      ? foreignCloser(context, pos)
      : (matchElement(context, pos, tag) ?? matchToolElement(context, tag) ?? matchCodeElement(context, tag)),
};

export function matchToken(context: MatchContext, pos: number): Match | null {
  const tag = readTag(context.win, pos);
  if (!tag) return foreignCloser(context, pos);
  const match = specialMatch(context, tag) ?? BY_ROLE[tagRole(tag.name)](context, pos, tag);
  if (!match || match.kind === 'calls' || match.kind === 'text') return match;
  return isQuoted(context, tag.end) ? null : match;
}

/** Kimi's `◁think▷ … ◁/think▷`. */
export function matchTriangle(context: MatchContext, pos: number): Match | null {
  const { win } = context;
  if (win.startsWith(TRIANGLES.open, pos))
    return { kind: 'reasoning', end: pos + TRIANGLES.open.length, closers: [TRIANGLES.close] };
  return win.startsWith(TRIANGLES.close, pos) ? { kind: 'reclassify', end: pos + TRIANGLES.close.length } : null;
}

function specialMatch(context: MatchContext, tag: Tag): Match | null {
  if (!tag.special) return null;
  if (tag.name === 'channel' && isGemmaThought(context, tag)) return gemmaThought(context, tag);
  if (HEADERS.has(tag.name)) return matchHeader(context, tag);
  if (tag.name === 'end' || tag.name === 'call' || tag.name === 'content') return { kind: 'drop', end: tag.end };
  const role = Object.hasOwn(ROLE_TOKENS, tag.name) ? ROLE_TOKENS[tag.name] : undefined;
  if (role === undefined || tagRole(tag.name) === 'result') return null;
  return roleMatch(context, role, tag.end);
}

/** `<|channel>thought … <channel|>` */
function isGemmaThought({ win }: MatchContext, tag: Tag): boolean {
  return tag.closing || win.startsWith('thought', win.skipSpace(tag.end));
}

function gemmaThought({ win }: MatchContext, tag: Tag): Match {
  if (tag.closing) return { kind: 'drop', end: tag.end };
  const word = win.skipSpace(tag.end);
  return { kind: 'reasoning', end: word + win.identifier(word).length, closers: ['<channel|>', '<|channel|>'] };
}

/** Behind a call: a closer that is damaged or that no format has (`</function_invocation>`). */
function foreignCloser(context: MatchContext, pos: number): Match | null {
  if (!context.prose.afterCall) return null;
  const closer = readDamagedCloser(context.win, pos);
  return closer && isCallWord(closer.word) ? { kind: 'drop', end: closer.end } : null;
}

function strayCloser(context: MatchContext, tag: Tag): Match | null {
  if (isMentioned(context, tag.end)) return null;
  if (tag.special || context.prose.afterCall || context.prose.atLineStart) return { kind: 'drop', end: tag.end };
  const rest = context.win.char(context.win.skipBlank(tag.end));
  return rest === '' || rest === '\n' ? { kind: 'drop', end: tag.end } : null;
}

/** An opening tag begins reasoning at the start of a line, elsewhere only if it is closed somewhere. */
function matchReasoning(context: MatchContext, pos: number, tag: Tag): Match | null {
  const { win } = context;
  if (!context.prose.atLineStart && TAG_WORDS.test(win.identifier(win.skipBlank(tag.end)))) return null;
  if (tag.closing || tag.name === 'end_thinking') return { kind: 'reclassify', end: tag.end };
  const closers = reasoningClosers(win.slice(pos, tag.end), tag);
  if (context.prose.atLineStart || tag.special)
    return { kind: 'reasoning', end: tag.end, closers, stops: REASONING_STOPS };
  return closers.some((closer) => win.find(closer, tag.end) !== -1)
    ? { kind: 'reasoning', end: tag.end, closers }
    : null;
}

function reasoningClosers(opener: string, tag: Tag): string[] {
  const closers = [tag.closer];
  if (opener.includes('START_')) closers.push(opener.replace('START_', 'END_'));
  if (opener.startsWith('<|')) closers.push(opener.replace('<|', '<|/'), opener.replace('<|', '</'));
  return closers;
}

/** Invented results follow a call; before any call such a tag is text. */
function matchResult(context: MatchContext, tag: Tag): Match | null {
  const { win, prose } = context;
  if (prose.calls === 0) return null;
  if (tag.closing) return { kind: 'drop', end: tag.end };
  if (RESULT_WORDS.has(tag.name) && !tag.special && !prose.atLineStart && !prose.afterCall) return null;
  const close = [
    tag.closer,
    tag.closer.replace('START_', 'END_'),
    tag.closer.replace('start_', 'end_').replace('</', '<'),
    tag.closer.replace('begin', 'end').replace('</', '<'),
  ]
    .map((closer) => ({ at: win.find(closer, tag.end), size: closer.length }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)[0];
  return { kind: 'result', end: close ? close.at + close.size : tag.end };
}

/** `<|im_start|>role\n`, `<|start_header_id|>role<|end_header_id|>`, `<start_of_turn>role\n` */
function matchTurn(context: MatchContext, tag: Tag): Match | null {
  if (!tag.special && !PLAIN_NOISE.has(tag.name)) return null;
  if (isMentioned(context, tag.end)) return null;
  if (tag.closing) return { kind: 'drop', end: tag.end };
  const { win } = context;
  const word = win.identifier(win.skipBlank(tag.end)).toLowerCase();
  const role = Object.hasOwn(ROLE_TOKENS, word) ? ROLE_TOKENS[word] : undefined;
  if (role === undefined || word.length > MAX_ROLE) return { kind: 'drop', end: tag.end };
  const end = win.skipBlank(tag.end) + word.length;
  const next = readTag(win, end);
  return roleMatch(context, role, next?.name === 'end_header_id' || next?.name === 'end_of_role' ? next.end : end);
}

function roleMatch({ prose }: MatchContext, role: 'assistant' | 'tool' | 'foreign', end: number): Match {
  if (role === 'assistant') return { kind: 'drop', end };
  return { kind: role === 'tool' && prose.calls > 0 ? 'result' : 'foreign-turn', end };
}

// Owns what the owner's own words of this turn give leave for: a message to whom they address, an introduction of two whom they name
// (ADR 0023; R4.31, R4.73). Knows no tool. Invariants: whoever chose a name chose no leave: a name counts only right after a verb of
// address, an id only within an order to send; what is said against it anywhere in the turn ends it. In doubt there is no leave.
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';
import { foldName } from '../../peers/fold-name.ts';
import { looksLikeId, namesakes } from '../../peers/namesakes.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';
import { isOrder, isRefusal, ORDER_HEAD, type OwnerSentence, ownerSentences } from './owner-sentences.ts';

/** Whom a leave is about, and by which words one may mean it. */
export interface Addressee {
  /** Folded. */
  readonly id: string;
  /** Folded; absent when it means nobody for sure, or nobody that the owner ever wrote to. */
  readonly name?: string;
}

/** `wasWrittenTo`: the owner agreed to a message to it before. */
export function addresseeOf(known: KnownPeer, peers: readonly KnownPeer[], wasWrittenTo: boolean): Addressee {
  const { name, id } = known.peer;
  const folded = foldName(name);
  const isMeant = namesakes(peers, name).length === 1 && !looksLikeId(name) && !isStopStem(stemWord(folded));
  return { id: foldName(id), ...(isMeant && (wasWrittenTo || isAgentName(name)) ? { name: folded } : {}) };
}

/** What nobody but an agent is called; `state-of-the-art` and `end-of-file` stand in any line. */
function isAgentName(name: string): boolean {
  return /^(?:hermes|talaria|agent)-of-[a-z0-9._=/+-]+$/i.test(name);
}

const DIRECT = '(?:tell|ask|message|inform|remind|warn|thank|greet|notify|ping|contact)';
const WITH_TO = String.raw`(?:(?:write|reply|respond|answer|speak|talk|get\s+back|reach\s+out)\s+(?:back\s+)?to)`;
const GAP = String.raw`(?:\s+(?!(?:and|or|then|but|to|that|which|who)\s)[^\s,;:.!?]{1,80}){0,12}`;
const SEND = String.raw`(?:(?:send|say|forward|pass|write|give)${GAP}\s+to)`;
const ANY_VERB =
  '(?:tell|ask|message|inform|remind|warn|thank|greet|notify|ping|contact|write|reply|respond|answer|speak|talk|reach|send|say|forward|pass)';
const TITLE = String.raw`(?:(?:(?:my|the|our)\s+)?(?:peer|agent)\s+)?["'“‘@]?`;
const AFTER = String.raw`(?![\p{L}\p{N}_=+/@-]|[.:][\p{L}\p{N}]|['’]\p{L})`;
const SAID_NEXT = /^["'”’]?\s*:(?:\s|$)/u;
const CONCERNS_IT = new RegExp(
  String.raw`\b(?:${ANY_VERB}|introduce|connect|do\s+(?:it|that|this|so)|actually|mind|forget|second\s+thoughts?)\b|^(?:\S+\s*){1,3}$`,
  'u',
);

/** Does the owner order a message to it? */
export function ordersMessage(typed: readonly string[], { id, name }: Addressee): boolean {
  const patterns = [
    ordered(`${DIRECT}\\s+(?:[^\\s,;]{1,300}(?:,|,?\\s+and)\\s+){0,8}${TITLE}${literal(id)}`),
    ordered(`${ANY_VERB}\\b(?!\\s+(?:me|us)\\b)[^]{0,2000}?\\bto\\s+${TITLE}${literal(id)}`),
    ordered(`(?:write|send)\\s+${TITLE}${literal(id)}`),
  ];
  if (name !== undefined) patterns.push(ordered(`(?:${DIRECT}|${WITH_TO}|${SEND})\\s+${TITLE}${literal(name)}`));
  if (name !== undefined && isAgentName(name)) patterns.push(ordered(`(?:write|send)\\s+${TITLE}${literal(name)}`));
  return isOrdered(typed, patterns);
}

/** Does the owner order to introduce these two to each other? */
export function ordersIntroduction(typed: readonly string[], a: Addressee, b: Addressee): boolean {
  const [first, second] = [a, b].map(({ id, name }) => {
    const words = [id, ...(name === undefined ? [] : [name])].map((word) => `${literal(word)}${AFTER}`);
    return `${TITLE}(?:${words.join('|')})["'”’]?`;
  });
  const verb = String.raw`(?:introduce|connect|acquaint|match(?:\s+up)?|bring|put|get)\s+`;
  const joint = String.raw`(?:\s*,)?\s+(?:and|to|with|together\s+with|in\s+(?:touch|contact)\s+with|&)\s+`;
  return isOrdered(
    typed,
    [`${first}${joint}${second}`, `${second}${joint}${first}`].map((pair) => ordered(verb + pair)),
  );
}

function literal(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function ordered(source: string): RegExp {
  return new RegExp(`${ORDER_HEAD}${source}${AFTER}`, 'gu');
}

function isOrdered(typed: readonly string[], patterns: readonly RegExp[]): boolean {
  const sentences = ownerSentences(typed);
  const orders = sentences.filter((sentence) => patterns.some((pattern) => isIn(sentence, pattern)));
  const others = sentences.filter((sentence) => !orders.includes(sentence));
  return orders.length > 0 && !others.some(({ text }) => isRefusal(text) && CONCERNS_IT.test(text));
}

function isIn({ text, isOwn }: OwnerSentence, pattern: RegExp): boolean {
  if (!isOwn) return false;
  return [...text.matchAll(pattern)].some((match) => {
    const end = match.index + match[0].length;
    const rest = SAID_NEXT.test(text.slice(end)) ? match[0] : text.slice(match.index);
    return isOrder(text.slice(0, match.index), rest);
  });
}

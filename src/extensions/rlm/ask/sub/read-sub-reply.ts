// Owns what counts of a reply to a sub-call: its answer, and the claims whose words the piece holds. Reads JSON leniently, else prose lines.
// Invariant: total; a claim that counts is whole sentences of the piece, as they stand there. Seed 003: fresh child evidence.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { isLongEnough } from '#mind/evidence/trace-guard/find-quote.ts';
import { beforeEcho, repeats } from '../../run/prompt/plain-prompt.ts';
import { proseLines, proseSentences } from '../../run/reading/claimed-facts.ts';
import { extractJson } from '../../text/extract-json.ts';
import { WholeQuotes } from '../../text/whole-quotes.ts';
import { SUB_SCHEMA } from '../prompt-shapes.ts';

export interface SubReading {
  /** Was it the object that was asked for? */
  readonly isOurs: boolean;
  readonly answer: string;
  /** Each once, in the order of the reply. */
  readonly claims: readonly string[];
  /** Claimed, and not what the piece says. */
  readonly refused: readonly string[];
}

const LONGEST_REPLY = 200_000;
const LONGEST_ANSWER = 8_000;
const LONGEST_CLAIM = 1_000;
const MOST_CLAIMS = 40;

export function readSubReply(completion: string, piece: string | null): SubReading {
  const reply = completion.trim().slice(0, LONGEST_REPLY);
  const json = extractJson(reply);
  const object = json.ok && isJsonObject(json.value) ? json.value : undefined;
  const isOurs = object !== undefined && (object.answer !== undefined || object.claims !== undefined);
  const answer = isOurs ? answerOf(object) : object?.schema_version === SUB_SCHEMA ? '' : reply;
  const claimed = (isOurs ? claimsOf(object.claims) : proseLines(answer)).slice(0, MOST_CLAIMS);
  const whole = piece === null ? () => [] : wholeIn(piece);
  const refused = isOurs ? claimed.filter((claim) => whole(claim).length === 0) : [];
  return { isOurs, answer: answer.slice(0, LONGEST_ANSWER), claims: [...new Set(claimed.flatMap(whole))], refused };
}

/** Of a plain second try: what of its lines, else of their sentences, the piece says; that is the answer as well. */
export function readPlainSub(completion: string, piece: string): SubReading {
  const whole = wholeIn(piece);
  const lines = proseLines(beforeEcho(completion.slice(0, LONGEST_REPLY)));
  const held = lines.flatMap((line) => (whole(line).length > 0 ? whole(line) : proseSentences(line).flatMap(whole)));
  const claims = repeats(held, [piece]) ? [] : [...new Set(held)].slice(0, MOST_CLAIMS);
  return { isOurs: false, answer: claims.join('\n').slice(0, LONGEST_ANSWER), claims, refused: [] };
}

/** It offered nothing that the piece says, and did not say in form that there is nothing. */
export function isSubOfNoUse({ isOurs, claims, refused }: SubReading): boolean {
  return claims.length === 0 && (!isOurs || refused.length > 0);
}

/** A claim as the whole of what the piece says there; none: it does not say it. */
function wholeIn(piece: string): (claim: string) => readonly string[] {
  const quotes = new WholeQuotes(piece);
  return (claim) => {
    const place = claim.length <= LONGEST_CLAIM && isLongEnough(claim, 2) ? quotes.find(claim) : undefined;
    const text = place === undefined ? '' : piece.slice(place.start, place.end);
    return text === '' || text.length > LONGEST_CLAIM ? [] : [text];
  };
}

function answerOf({ answer }: JsonObject): string {
  if (typeof answer === 'string') return answer;
  return answer === undefined || answer === null ? '' : JSON.stringify(answer);
}

function claimsOf(value: JsonValue | undefined): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value ?? null];
  const texts = list.flatMap((item) => {
    const text = isJsonObject(item) ? (item.text ?? item.quote ?? item.claim) : item;
    return typeof text === 'string' && text.trim() !== '' ? [text.trim()] : [];
  });
  return [...new Set(texts)];
}

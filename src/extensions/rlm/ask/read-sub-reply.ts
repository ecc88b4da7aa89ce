// Owns what counts of a reply to a sub-call (`talaria.rlm.sub.v1`, a model that reads one piece): its answer, and as claims the whole sentences of
// the piece that it copied from. Reads JSON leniently, else prose. Invariant: total; a claim that counts is a whole sentence, line, item or cell of
// the piece, as it stands there.

import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { cutPassages } from '#base/text/passages.ts';
import { findQuote, plainSentence, wholeUnits } from '#base/text/quotes.ts';
import { cutSentences } from '#base/text/sentences.ts';
import { extractJson } from '../guard/extract-json.ts';
import { beforeEcho, repeats } from '../run/plain-prompt.ts';

export const SUB_SCHEMA = 'talaria.rlm.sub.v1';

/** The reply: `{"answer": "…", "claims": [{"text": "words that stand in the piece"}]}`; prose lines are read too. */
export interface SubPrompt {
  readonly schema_version: typeof SUB_SCHEMA;
  readonly task: 'answer_from_piece';
  /** Null: the code asked without a piece; then no claim can count. */
  readonly piece: string | null;
  readonly question: string;
}

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
  const claimed = (isOurs ? claimsOf(object.claims) : sentencesOf(answer)).slice(0, MOST_CLAIMS);
  const said = new PieceUnits(piece ?? '');
  const found = claimed.map((claim) => (isOurs ? said.around(claim) : said.whole(claim)));
  const claims = [...new Set(found.filter((one) => one !== undefined))];
  const refused = isOurs ? claimed.filter((_, at) => found[at] === undefined) : [];
  return { isOurs, answer: answer.slice(0, LONGEST_ANSWER), claims, refused };
}

/** Of a plain second try: what of its sentences the piece says; that is the answer as well. */
export function readPlainSub(completion: string, piece: string): SubReading {
  const said = new PieceUnits(piece);
  const held = sentencesOf(beforeEcho(completion.slice(0, LONGEST_REPLY))).flatMap((one) => said.whole(one) ?? []);
  const claims = repeats(held, [piece]) ? [] : [...new Set(held)].slice(0, MOST_CLAIMS);
  return { isOurs: false, answer: claims.join('\n').slice(0, LONGEST_ANSWER), claims, refused: [] };
}

/** It offered nothing that the piece says, and did not say in form that there is nothing. */
export function isSubOfNoUse({ isOurs, claims, refused }: SubReading): boolean {
  return claims.length === 0 && (!isOurs || refused.length > 0);
}

/** Words that stand in a piece, as the whole in which they stand. */
class PieceUnits {
  readonly #piece: string;
  readonly #units: ReturnType<typeof wholeUnits>;

  constructor(piece: string) {
    this.#piece = piece;
    this.#units = wholeUnits(piece);
  }

  whole(words: string): string | undefined {
    const [stretch] = this.#units.get(plainSentence(words)) ?? [];
    const text = stretch === undefined ? '' : this.#piece.slice(stretch.start, stretch.end);
    return text === '' || text.length > LONGEST_CLAIM ? undefined : text;
  }

  /** A copied part of a sentence is shown uncut. */
  around(words: string): string | undefined {
    const said = plainSentence(words);
    const isEnough = said.length >= LEAST_PART && said.length <= LONGEST_CLAIM;
    const around = isEnough ? [...this.#units.keys()].filter((unit) => findQuote(unit, said).length > 0) : [];
    const [shortest] = around.sort((one, other) => one.length - other.length);
    return this.whole(said) ?? (shortest === undefined ? undefined : this.whole(shortest));
  }
}

/** Shorter words stand anywhere. */
const LEAST_PART = 8;

function sentencesOf(text: string): readonly string[] {
  const cut = cutPassages(text).flatMap((passage) => [passage, ...cutSentences(text, 'prose', { within: passage })]);
  return [...new Set(cut.map(({ start, end }) => text.slice(start, end).replace(/^["“„]|["”“]$/gu, '')))];
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

// Owns what is offered (hierarchy notes D8): the form of a listing, its id and signature (EIP-712), what may be listed, what it costs at an hour
// and who gets which part (B4), and the filter of words by which others find it. Knows no clock, no disk and no chain.
// Invariants: the id is the hash of all but itself and the signature; a listing that is read was signed by its seller, and every text and number
// in it is bounded; prices are whole micro-USDC, rounded once, and the same everywhere: no floating point takes part.
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { accountOf, type Hex, signerOf, type TypedData } from '#base/ethereum.ts';
import { sha256 } from '#base/ids.ts';
import { canonicalJson, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { codeLength, firstPoints } from '#base/text/code-points.ts';
import { withoutUnseen } from '#base/text/unseen.ts';

/** Nothing less sure can be listed. */
export const LEAST_CONFIDENCE = 0.6;
/** Code points that are free to read. */
export const PREVIEW = 500;
/** Code points of a body: of a shorter one the preview would give half away. */
export const LEAST_BODY = 1_000;
/** micro-USDC: a tenth of it is still a price, and what is beyond the most is no money. */
const LEAST_BASE = 5n;
const MOST_BASE = 10n ** 18n;
const MOST_ANCESTORS = 1_000;
/** The last moment that the platform has a date for, epoch ms. */
const MOST_TIME = 8_640_000_000_000_000;

const hex = (bytes: number) => {
  const form = new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`);
  const isNothing = /^0x0*$/;
  return z.custom<Hex>(
    (value) => typeof value === 'string' && form.test(value) && !isNothing.test(value),
    `must be 0x and ${2 * bytes} of 0-9 a-f, not all of them 0`,
  );
};
const address = hex(20);
const hash = hex(32);
const whole = z.int().min(0);
const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(2 * most)
    .refine((text) => codeLength(text) <= most && text.isWellFormed(), `must have at most ${most} characters`)
    .refine(
      (text) => withoutUnseen(text).trim() === text && !/[\n\t]/.test(text),
      'must be one line that is seen whole',
    );

const draftShape = {
  ...{ item: z.enum(['skill', 'entry']), name: line(64), category: line(200), version: whole },
  ...{ confidence: z.number().min(LEAST_CONFIDENCE).max(1), validated_count: whole },
  /** Ids of golems, the oldest first. */
  lineage: z.array(line(64)).max(MOST_ANCESTORS).readonly(),
  preview: z
    .string()
    .min(1)
    .max(2 * PREVIEW)
    .refine((text) => codeLength(text) <= PREVIEW && text.isWellFormed(), `must have at most ${PREVIEW} characters`),
  ...{ content_hash: hash, ciphertext_hash: hash, key_commit: hash },
  /** micro-USDC. */
  base_price: z
    .string()
    .regex(/^[1-9][0-9]{0,18}$/)
    .refine((text) => isPrice(text), `must be from ${LEAST_BASE} to ${MOST_BASE} micro-USDC`),
  /** Epoch ms. */
  listed_at: whole.max(MOST_TIME),
  ...{ seller: address, splitter: address, escrow: address, chain_id: z.int().min(1) },
  /** Who gives the key out when the seller does not; `key`: X25519, public. */
  agent: z.strictObject({ address, key: z.string().regex(/^[0-9a-f]{64}$/) }).readonly(),
  evaluator: z.union([z.literal('buyer'), address]),
  /** Of what is sold on; absent: the seller made it. */
  creator: address.optional(),
  /** Id of the listing that this one takes the place of. */
  previous: hash.optional(),
};
const draftForm = z.strictObject(draftShape).readonly();
const listingForm = z.strictObject({ ...draftShape, id: hash, signature: z.string().max(132) }).readonly();

function isPrice(text: string): boolean {
  return text.length <= 19 && /^\d+$/.test(text) && BigInt(text) >= LEAST_BASE && BigInt(text) <= MOST_BASE;
}

export type Draft = z.infer<typeof draftForm>;
export type Listing = Draft & { readonly id: Hex; readonly signature: Hex };

/** SHA-256 of the canonical JSON. */
export function idOf(draft: Draft): Hex {
  return `0x${sha256(canonicalJson(draft as unknown as JsonValue))}`;
}

function typedData(id: Hex, { chain_id, escrow }: Pick<Draft, 'chain_id' | 'escrow'>): TypedData {
  return {
    domain: { name: 'TalariaMarket', version: '1', chainId: chain_id, verifyingContract: escrow },
    types: { Listing: [{ name: 'id', type: 'bytes32' }] },
    ...{ primaryType: 'Listing', message: { id } },
  };
}

/** Throws TalariaError `key-invalid`, and `listing-invalid` for what no reader would take: another's address, too little confidence. */
export async function signListing(draft: Draft, key: string): Promise<Listing> {
  const id = idOf(draft);
  const account = await accountOf(key);
  const signature = await account.signTypedData(typedData(id, draft));
  const read = await checkListing({ ...draft, id, signature });
  if (read.ok) return read.value;
  throw new TalariaError(`the listing would not be read: ${read.detail}`, {
    code: 'listing-invalid',
    fix: 'Correct what is named, with the key of the seller, and list it again.',
  });
}

/** Is it a listing, whole, and signed by its seller? What a text in it says is foreign. */
export async function checkListing(
  value: unknown,
): Promise<Result<Listing, 'not-a-listing' | 'bad-id' | 'bad-signature'>> {
  const read = listingForm.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const what = issue ? `${issue.path.join('.') || 'It'}: ${issueText(issue)}.` : 'It is no listing.';
    return refuse('not-a-listing', what);
  }
  const { id, signature, ...draft } = read.data;
  if (idOf(draft) !== id) return refuse('bad-id', 'Its id is not the hash of what it says: it was changed.');
  if ((await signerOf(typedData(id, draft), signature)) !== draft.seller)
    return refuse('bad-signature', `It is not what ${draft.seller} signed.`);
  return ok({ ...draft, id, signature: signature as Hex });
}

/** What is free to read. */
export function previewOf(body: string): string {
  return firstPoints(body, PREVIEW);
}

/** Bits of freshness behind the point: as many as a base, a confidence and an hour have together, so that no rounding depends on those left out. */
const BITS = 200n;
const HOUR_MS = 3_600_000;
/** From here on every price is at the floor: a tenth of the base at full confidence lies at 230.26 hours. */
const HOURS_TO_FLOOR = 231;

/** Of each hour, exp(-hour / 100), times 2 ** 200 and cut. */
const freshness = Array.from({ length: HOURS_TO_FLOOR }, (_, hour) => expOf(hour));

/** The series of exp(hour / 100), whose parts are all of one sign, turned over; forty bits more than are kept. */
function expOf(hour: number): bigint {
  const one = 1n << (BITS + 40n);
  let [sum, part] = [0n, one];
  for (let at = 1n; part > 0n; at += 1n) {
    sum += part;
    part = (part * BigInt(hour)) / (100n * at);
  }
  return (one << BITS) / sum;
}

/** micro-USDC at that moment (epoch ms), by whole hours since it was listed: max(0.1 base, base (0.5 + 0.5 confidence) exp(-0.01 hours)), half up. */
export function priceAt(
  { base_price, confidence, listed_at }: Pick<Listing, 'base_price' | 'confidence' | 'listed_at'>,
  at: number,
): bigint {
  const base = BigInt(base_price);
  const floor = (base + 5n) / 10n;
  const fresh = freshness[Math.max(0, Math.floor((at - listed_at) / HOUR_MS))];
  if (fresh === undefined) return floor;
  const { share, whole } = factorOf(confidence);
  const price = (((base * share * fresh) >> (BITS - 1n)) + whole) / (2n * whole);
  return price > floor ? price : floor;
}

const POWERS = Array.from({ length: 20 }, (_, digits) => 10n ** BigInt(digits));

/** 0.5 + 0.5 confidence as a fraction; the confidence is what it is written as, 0.7 and not the number next to it. */
function factorOf(confidence: number): { readonly share: bigint; readonly whole: bigint } {
  const digits = String(confidence).slice(2);
  const one = POWERS[digits.length] ?? 1n;
  return { share: one + (confidence === 1 ? one : BigInt(digits)), whole: 2n * one };
}

export interface Parts {
  readonly seller: bigint;
  readonly styx: bigint;
  readonly creator: bigint;
  readonly gas: bigint;
}

/** 88, 5, 5 and 2 of a hundred; what the creator gets of a resale is the seller's in a first sale, and so is what no hundredth holds. */
export function split(price: bigint, resale: boolean): Parts {
  const [styx, gas] = [(price * 5n) / 100n, (price * 2n) / 100n];
  const creator = resale ? styx : 0n;
  return { seller: price - styx - creator - gas, styx, creator, gas };
}

/** Of a filter: with 2,000 words one word in 2,000 that is not there seems to be. */
const FILTER_BYTES = 4_096;
const PROBES = 7;

/** Base64 of 4,096 bytes: tells of a word that one has whether it may be there, and of none which. */
export function bloomOf(words: Iterable<string>, key: string): string {
  const filter = Buffer.alloc(FILTER_BYTES);
  for (const word of words) {
    for (const { byte, bit } of placesOf(word, key)) filter.writeUInt8(filter.readUInt8(byte) | bit, byte);
  }
  return filter.toString('base64');
}

/** False: it is not there; what is no filter holds nothing. Asked of the filter that is here, so the word goes nowhere. */
export function mayHold(filter: string, key: string, word: string): boolean {
  const bytes = Buffer.from(filter, 'base64');
  const isFilter = bytes.length === FILTER_BYTES && bytes.toString('base64') === filter;
  return isFilter && placesOf(word, key).every(({ byte, bit }) => bytes.readUInt8(byte) & bit);
}

function placesOf(word: string, key: string): readonly { readonly byte: number; readonly bit: number }[] {
  const digest = createHmac('sha256', key).update(folded(word)).digest();
  return Array.from({ length: PROBES }, (_, at) => {
    const place = digest.readUInt16BE(2 * at) % (8 * FILTER_BYTES);
    return { byte: place >> 3, bit: 1 << (place & 7) };
  });
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Runs of three letters and digits or more, each once; what is asked for is cut in the same way. */
export function wordsOf({
  name,
  category,
  preview,
}: Pick<Listing, 'name' | 'category' | 'preview'>): readonly string[] {
  return [...new Set(folded(`${name}\n${category}\n${preview}`).match(/[\p{L}\p{M}\p{N}]{3,}/gu))];
}

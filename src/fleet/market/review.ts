// Owns reviews: what a buyer whose job was completed signs about a listing, once for each job, with what the skill did for him if he gives that.
// Knows no socket. Invariant: nobody reviews what he did not buy and accept, and nobody's review is changed by a shop.

import { type Hex, signerOf } from '#base/ethereum.ts';
import { canonicalJson, isJsonObject, type JsonObject, textOf } from '#base/json.ts';
import type { Chain, ChainPlaces } from './chain.ts';
import type { MarketRows } from './market-rows.ts';
import { type Answer, refused } from './shop.ts';

export const MOST_TEXT = 1_000;
const FIELDS = [
  { name: 'listing', type: 'bytes32' },
  { name: 'job', type: 'uint256' },
  { name: 'said', type: 'string' },
];

/** What is signed: domain and types of EIP-712. */
export function reviewData({ chainId, escrow }: ChainPlaces, { listing, job, ...said }: JsonObject) {
  return {
    domain: { name: 'TalariaMarket', version: '1', chainId, verifyingContract: escrow },
    types: { Review: FIELDS },
    primaryType: 'Review',
    message: {
      listing: textOf(listing) as Hex,
      job: BigInt(textOf(job)),
      said: canonicalJson({ ...said, signature: undefined }),
    },
  } as const;
}

/** What a shop answers to one that came. */
export async function takeReview(
  { chain, rows }: { readonly chain: Chain; readonly rows: MarketRows },
  given: JsonObject,
): Promise<Answer> {
  const { signature, ...said } = given;
  if (!isReview(said) || typeof signature !== 'string')
    return refused(400, 'review-invalid', 'A review has listing, job, stars from 1 to 5, text and signature.');
  const job = await chain.job(BigInt(textOf(said.job)));
  const listing = rows.lot(textOf(said.listing))?.listing;
  const isOfIt =
    job?.status === 'completed' && listing !== undefined && job.provider.toLowerCase() === listing.splitter;
  const signer = await signerOf(reviewData(chain.places, said), signature);
  if (!isOfIt || signer !== job.client.toLowerCase())
    return refused(403, 'not-bought', 'Only who bought it by escrow and accepted it reviews it.');
  const isNew = await rows.addReview(textOf(said.job), listing.id, canonicalJson(given));
  return isNew ? { status: 200, body: { taken: true } } : refused(409, 'reviewed', 'There is a review of this job.');
}

export function isReview({ listing, job, stars, text, record, ...more }: JsonObject): boolean {
  const isNamed = /^0x[0-9a-f]{64}$/.test(textOf(listing)) && /^\d{1,20}$/.test(textOf(job));
  const isSaid =
    Number.isInteger(stars) &&
    Number(stars) >= 1 &&
    Number(stars) <= 5 &&
    typeof text === 'string' &&
    text.length <= MOST_TEXT;
  return isNamed && isSaid && Object.keys(more).length === 0 && (record === undefined || isRecord(record));
}

function isRecord(record: JsonObject[string]): boolean {
  if (!isJsonObject(record)) return false;
  const { uses, successes, ...more } = record;
  const areCounts = [uses, successes].every(
    (count) => Number.isInteger(count) && Number(count) >= 0 && Number(count) <= 1e9,
  );
  return areCounts && Number(successes) <= Number(uses) && Object.keys(more).length === 0;
}

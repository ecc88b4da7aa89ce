// Owns the buying side of the protocol (hierarchy notes B2, B5, C22): from a listing that is looked at to its content in clear. Knows no library and no
// page. Invariants: nothing is signed for a listing that is altered, not on the chain, dearer than its formula or above a limit; what was signed is
// a row before it leaves, so a crash pays nothing twice; content that is not what was described is never given out, and in escrow its money comes back.
import { type Clock, isoTime } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { accountOf, hashOf } from '#base/ethereum.ts';
import { newId } from '#base/ids.ts';
import { type JsonObject, objectOf, objectsOf, parseJson, textOf } from '#base/json.ts';
import { behind, type Chain, type Job } from './chain.ts';
import { checkListing, type Listing, mayHold, priceAt, wordsOf } from './listing.ts';
import type { MarketRows, Purchase } from './market-rows.ts';
import { signPayment, type Via, ZERO } from './payment.ts';
import { isReview, MOST_TEXT, reviewData } from './review.ts';
import { newBox, openContent, openKey } from './seal.ts';
import { describeJob } from './shop.ts';

export interface BuyerGround {
  readonly chain: Chain;
  readonly rows: MarketRows;
  readonly clock: Clock;
  /** Of the purse, 64 hex characters. */
  readonly key: string;
  /** Micro-USDC. */
  readonly limits: { readonly payment: bigint; readonly day: bigint; readonly direct?: bigint };
}

const HOUR = 3_600_000;
/** By which nodes of a chain are behind one another. */
const MARGIN_S = 60;
const ANSWER_MS = 30_000;
/** Of a catalogue: a shop that never comes to its end is left. */
const MOST_PAGES = 500;
/** A skill with its files, in base64. */
const MOST_BYTES = 16 * 1024 ** 2;

/** What a shop says of a listing, which then is what its seller signed. Throws TalariaError `shop-…`, `not-a-listing`, `bad-id`, `bad-signature`. */
export async function readListing(shop: string, id: string): Promise<Listing> {
  const { status, body } = await ask(shop, `skills/${encodeURIComponent(id)}`);
  if (status === 404)
    throw new TalariaError(`${shop} has no listing ${id}`, {
      code: 'no-such-listing',
      fix: 'talaria market list shows what there is.',
    });
  return listingOf(body.listing, id);
}

async function listingOf(given: unknown, id?: string): Promise<Listing> {
  const checked = await checkListing(given);
  const isIt = checked.ok && (id === undefined || checked.value.id === id);
  if (isIt) return checked.value;
  const code = checked.ok ? 'bad-id' : checked.reason;
  throw new TalariaError(
    `what the shop shows is not what its seller signed: ${checked.ok ? 'it is another listing' : checked.detail}`,
    { code, fix: 'Buy elsewhere, or tell the seller.' },
  );
}

/** @param id of the listing. Throws TalariaError, with nothing signed: of the listing, `offer-refused`, `over-allowance`, `already-bought`; with it signed, as `goOn`. */
export async function buy(
  ground: BuyerGround,
  {
    shop,
    id,
    via,
    file = null,
  }: { readonly shop: string; readonly id: string; readonly via: Via; readonly file?: string | null },
): Promise<Purchase> {
  const { chain, rows, clock, limits } = ground;
  const listing = await readListing(shop, id);
  await refuseForeign(chain, listing);
  if (listing.evaluator === listing.seller) {
    throw new TalariaError('its seller would decide himself whether you got what was described', {
      ...{ code: 'not-neutral', fix: 'Buy elsewhere: nothing was signed.' },
    });
  }
  // A price falls from the hour of listing: one that lies ahead would keep it up.
  if (listing.listed_at > clock.now() + HOUR) {
    throw new TalariaError('its hour of listing has not come yet', {
      code: 'not-listed',
      fix: 'Look at the clock of this machine; if that is right, the seller set it ahead.',
    });
  }
  const box = newBox();
  const asked = await ask(shop, `skills/${id}/purchase`, { box: box.publicKey });
  const offers = asked.headers.get('PAYMENT-REQUIRED');
  if (asked.status !== 402 || offers === null) throw unexpected(shop, asked.status, asked.body);
  // The shop may still be in the hour before.
  const price = priceAt(listing, Math.max(listing.listed_at, clock.now() - HOUR));
  const left = limits.day - BigInt(rows.spentToday(chain.me));
  const { payment, direct = payment } = limits;
  const most = [via === 'direct' ? direct : payment, payment, left].reduce(
    (least, one) => (one < least ? one : least),
    price,
  );
  const evaluator = listing.evaluator === 'buyer' ? ZERO : listing.evaluator;
  const wish = { via, payTo: listing.splitter, evaluator, most, description: describeJob(listing.id, box.publicKey) };
  const signed = await signPayment(chain, ground.key, offers, wish);
  const { amount, nonce, header, validBefore } = signed;
  const row = { id: newId('purchase'), shop, listing, via, purse: chain.me, amount: Number(amount), nonce, file };
  await rows.sign(
    { ...row, box: JSON.stringify(box), payment: JSON.stringify({ header, validBefore }) },
    Number(limits.day),
  );
  return goOn(ground, row.id);
}

/** A listing is of this chain and this escrow, and stands there. */
async function refuseForeign(chain: Chain, { id, escrow, chain_id, splitter, seller }: Listing): Promise<void> {
  const { places } = chain;
  const isHere = escrow.toLowerCase() === places.escrow.toLowerCase() && chain_id === places.chainId;
  const listed = isHere ? await chain.isListed(id, seller) : undefined;
  if (listed?.toLowerCase() === splitter.toLowerCase()) return;
  throw new TalariaError(
    isHere ? 'it is not listed on the chain' : `it is sold on chain ${chain_id}, at another escrow`,
    {
      ...{
        code: 'not-listed',
        fix: 'Look whether market.chain_id, escrow and factory in config.yaml are those of the shop.',
      },
    },
  );
}

/**
 * As far as it can go now; again after a crash, or later. Throws TalariaError `payment-not-taken`, `shop-…`, `wrong-delivery`, `not-delivered-yet`,
 * `undecided`, and of the chain; the row says how far it came.
 * @param shop to be asked instead of the one that was paid: the seller's agent
 */
export async function goOn(ground: BuyerGround, id: string, shop?: string): Promise<Purchase> {
  for (;;) {
    const row = ground.rows.purchase(id);
    if (row === undefined)
      throw new TalariaError(`There is no purchase ${id}`, {
        code: 'no-such-purchase',
        fix: 'talaria market purchases lists them.',
      });
    const purchase = { ...row, shop: shop ?? row.shop };
    const step = STEPS[purchase.state];
    if (step === undefined) return purchase;
    await step(ground, purchase);
    if (purchase.state === 'dropped' && ground.rows.purchase(id)?.state === 'dropped') return purchase;
  }
}

const STEPS: Partial<Record<Purchase['state'], (ground: BuyerGround, purchase: Purchase) => Promise<unknown>>> = {
  ...{ signed: pay, paid: open, opened: decide },
  // It may have been taken after all, when the chain was behind.
  dropped: lookForPayment,
};

async function pay(ground: BuyerGround, purchase: Purchase): Promise<void> {
  const { chain, rows } = ground;
  const { header, validBefore } = objectOf(known(purchase.payment));
  // The time first: a node that is behind knows an older one, too.
  const isOver = (await chain.now()) > Number(validBefore) + MARGIN_S;
  if (await lookForPayment(ground, purchase)) return;
  if (isOver) {
    await rows.move(purchase, 'dropped', {
      why: 'the shop never took the payment, and its time is over: no money moved',
    });
    return;
  }
  const { status, body } = await ask(
    purchase.shop,
    `skills/${purchase.listing.id}/purchase`,
    { box: boxOf(purchase).publicKey },
    textOf(header),
  );
  if (await lookForPayment(ground, purchase)) return;
  throw new TalariaError(`the shop did not take the payment: ${status} ${why(body)}`, {
    ...{ code: 'payment-not-taken', retryable: true },
    fix: `What was signed ends ${isoTime(Number(validBefore) * 1000)}; until then talaria market resume ${purchase.id} sends it again, and after it says that no money moved.`,
  });
}

/** What the chain says counts, not the shop. */
async function lookForPayment({ chain, rows }: BuyerGround, purchase: Purchase): Promise<boolean> {
  if (purchase.via === 'direct')
    return (await chain.isUsed(purchase.purse, purchase.nonce)) && (await rows.move(purchase, 'paid'));
  const job = await chain.jobOf(purchase.nonce);
  return job !== undefined && (await rows.move(purchase, 'paid', { job: String(job) }));
}

async function open(ground: BuyerGround, purchase: Purchase): Promise<void> {
  const { rows, chain } = ground;
  const back = (error: unknown) => takenBack(ground, purchase, error);
  const job = purchase.via === 'direct' ? undefined : await chain.funded(purchase.nonce).catch(back);
  if (job === 'taken back') return;
  if (job?.status === 'rejected' || job?.status === 'expired') {
    await rows.move(purchase, 'refunded', { why: `the job is ${job.status}` });
    return;
  }
  const content = await delivered(ground, purchase).catch(async (error: unknown) => {
    if (await refunded(ground, purchase, job)) return undefined;
    if (purchase.via === 'escrow') throw error;
    await takenBack(ground, purchase, error);
    return undefined;
  });
  if (content instanceof Uint8Array) await rows.move(purchase, 'opened', { content });
  else if (content !== undefined) await refuse(ground, purchase, job, content.wrong);
}

/** A chain that was reorganised knows nothing of the payment, and the signature can make it no more: no money moved after all. Else throws on. */
async function takenBack({ chain, rows }: BuyerGround, purchase: Purchase, error: unknown): Promise<'taken back'> {
  const { via, purse, nonce } = purchase;
  const isGone = via === 'direct' ? !(await chain.isUsed(purse, nonce)) : errorCode(error) === 'chain-behind';
  const { validBefore } = objectOf(known(purchase.payment));
  if (!isGone || (await chain.now()) <= Number(validBefore) + HOUR / 1_000) throw error;
  await rows.move(purchase, 'dropped', { why: 'the chain took the payment back' });
  return 'taken back';
}

/** Its time is over: everybody may send the money back. */
async function refunded({ chain, rows }: BuyerGround, purchase: Purchase, job: Job | undefined): Promise<boolean> {
  if (job === undefined || (await chain.now()) < job.expiredAt) return false;
  await chain.claimRefund(job.id);
  return rows.move(purchase, 'refunded', { why: 'it was not delivered in time' });
}

async function delivered({ chain }: BuyerGround, purchase: Purchase): Promise<Uint8Array | { readonly wrong: string }> {
  const { listing, nonce, shop, via } = purchase;
  const box = boxOf(purchase);
  const { status, body } = await ask(shop, `deliver/${nonce}?listing=${listing.id}&box=${box.publicKey}`);
  if (status !== 200) throw unexpected(shop, status, body);
  const sealed = Buffer.from(textOf(body.sealed_key), 'base64');
  if (via === 'escrow') {
    const { deliverable, status: at } = await chain.funded(nonce);
    if (at === 'funded')
      throw new TalariaError('the seller has not submitted yet', {
        code: 'not-delivered-yet',
        retryable: true,
        fix: `talaria market resume ${purchase.id} asks again.`,
      });
    // What was accepted is accepted; whether it opens to what was listed is seen below.
    if (at !== 'completed' && deliverable !== (await hashOf(sealed)))
      return { wrong: 'what was delivered is not what was submitted' };
  }
  const secret = await openKey(sealed, box.privateKey, listing.id);
  if (!secret.ok) return { wrong: secret.detail };
  const content = await openContent(Buffer.from(textOf(body.ciphertext), 'base64'), secret.value, listing);
  if (!content.ok) return { wrong: content.detail };
  const isAsShown = content.value.toString('utf8').includes(listing.preview);
  return isAsShown ? content.value : { wrong: 'what was shown before it was paid does not stand in it' };
}

/** In escrow the money comes back, unless somebody else decided; what was paid at once does not. What the chain says counts. */
async function refuse(ground: BuyerGround, purchase: Purchase, job: Job | undefined, wrong: string): Promise<void> {
  const { chain, rows } = ground;
  if (job?.evaluator === chain.me) await say(ground, purchase, job, 'reject');
  const now = job && (await chain.funded(purchase.nonce));
  if (now?.status === 'rejected') {
    await rows.move(purchase, 'rejected', { why: wrong });
    return;
  }
  if (now !== undefined && now.status !== 'completed') {
    if (await refunded(ground, purchase, now)) return;
    throw undecided(now, purchase);
  }
  const how = now === undefined ? 'It was paid at once' : `${now.evaluator} decided that it is`;
  throw new TalariaError(`What was delivered is not what was described: ${wrong}. ${how}, so the money is gone.`, {
    code: 'wrong-delivery',
    fix: 'Tell the seller; buy from strangers with --via escrow, where you decide.',
  });
}

function undecided({ evaluator }: Job, { id }: Purchase): TalariaError {
  return new TalariaError(`${evaluator} decides whether it is what was described, and has not yet`, {
    ...{ code: 'undecided', retryable: true },
    fix: `talaria market resume ${id} looks again; when its hour is over it brings the money back.`,
  });
}

async function decide(ground: BuyerGround, purchase: Purchase): Promise<void> {
  const { chain, rows } = ground;
  const back = (error: unknown) => takenBack(ground, purchase, error);
  const job = purchase.via === 'direct' ? undefined : await chain.funded(purchase.nonce).catch(back);
  if (job === 'taken back') return;
  if (job?.status === 'submitted') {
    const isMine = job.evaluator === chain.me;
    if (!isMine && (await refunded(ground, purchase, job))) return;
    if (!isMine) throw undecided(job, purchase);
    await say(ground, purchase, job, 'complete');
  }
  // It was, or nothing could have been opened.
  if (job?.status === 'funded') throw behind('that it was submitted');
  const end = job && BACK[job.status];
  await rows.move(purchase, end ?? 'completed', end === undefined ? {} : { why: `the job is ${job?.status}` });
}

const BACK: Partial<Record<Job['status'], 'refunded' | 'rejected'>> = { expired: 'refunded', rejected: 'rejected' };

/** Carried by the shop, who has gas; by oneself where it will not. */
async function say(
  { chain }: BuyerGround,
  { shop, listing }: Purchase,
  job: Job,
  word: 'complete' | 'reject',
): Promise<void> {
  const signed = await chain.signCall(word, job.id, listing.content_hash);
  await ask(shop, 'carry', { ...signed }).catch(() => undefined);
  const { status } = (await chain.job(job.id)) ?? {};
  if (status === 'submitted' || status === 'funded') await chain[word](job.id, listing.content_hash);
}

function boxOf({ box }: Purchase): { readonly publicKey: string; readonly privateKey: string } {
  const { publicKey, privateKey } = objectOf(known(box));
  return { publicKey: textOf(publicKey), privateKey: textOf(privateKey) };
}

function known(json: string): unknown {
  const read = parseJson(json);
  return read.ok ? read.value : undefined;
}

/**
 * `stars`: 1 to 5; `record`: what came of the skill here, checked uses and those that worked. Throws TalariaError `not-bought`, `review-invalid`, `shop-…`.
 */
export async function sendReview(
  { chain, key }: { readonly chain: Chain; readonly key: string },
  { listing, job, state, shop }: Purchase,
  {
    stars,
    text,
    record,
  }: {
    readonly stars: number;
    readonly text: string;
    readonly record?: { readonly uses: number; readonly successes: number };
  },
): Promise<void> {
  if (job === null || !['completed', 'ingested', 'saved'].includes(state)) {
    throw new TalariaError('Only what was bought by escrow and accepted can be reviewed.', { code: 'not-bought' });
  }
  const said = { listing: listing.id, job, stars, text, ...(record === undefined ? {} : { record: { ...record } }) };
  if (!isReview(said))
    throw new TalariaError(`A review has 1 to 5 stars and up to ${MOST_TEXT} characters`, { code: 'review-invalid' });
  const signature = await (await accountOf(key)).signTypedData(reviewData(chain.places, said));
  const { status, body } = await ask(shop, 'reviews', { ...said, signature });
  if (status !== 200) throw unexpected(shop, status, body);
}

/**
 * Listings of a shop that hold all these words. The words stay here: a filter says for certain when there are none, and else what there is
 * is read page by page. Throws TalariaError `shop-…`.
 */
export async function searchShop(shop: string, words: readonly string[], most = 20): Promise<readonly Listing[]> {
  const { status, body } = await ask(shop, 'filter');
  if (status !== 200) throw unexpected(shop, status, body);
  const wanted = words.flatMap((word) => wordsOf({ name: word, category: '', preview: '' }));
  if (!wanted.every((word) => mayHold(textOf(body.filter), textOf(body.key), word))) return [];
  const found: Listing[] = [];
  let next = '';
  for (let pages = 0; pages < MOST_PAGES && found.length < most; pages += 1) {
    const page = await ask(shop, `skills${next === '' ? '' : `?before=${encodeURIComponent(next)}`}`);
    if (page.status !== 200) throw unexpected(shop, page.status, page.body);
    const all = objectsOf(page.body.listings);
    found.push(...(await whole(all.filter((one) => holdsAll(one, wanted)))));
    const before = next;
    next = textOf(page.body.next);
    if (next === '' || next === before || all.length === 0) break;
  }
  return found.slice(0, most);
}

/** One that was altered hides no other. */
async function whole(listings: readonly JsonObject[]): Promise<readonly Listing[]> {
  const all = await Promise.all(listings.map((one) => checkListing(one)));
  return all.flatMap((one) => (one.ok ? [one.value] : []));
}

function holdsAll({ name, category, preview }: JsonObject, wanted: readonly string[]): boolean {
  const there = new Set(wordsOf({ name: textOf(name), category: textOf(category), preview: textOf(preview) }));
  return wanted.every((word) => there.has(word));
}

interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

/** No redirect is followed, wherever it leads. Throws TalariaError `shop-address`, `shop-silent`, `shop-too-large`. */
async function ask(shop: string, path: string, body?: JsonObject, payment?: string): Promise<Said> {
  const url = URL.canParse(shop) ? new URL(`/api/v1/${path}`, shop) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TalariaError(`${shop} is no address of a shop`, {
      code: 'shop-address',
      fix: 'Give it as https://host or http://127.0.0.1:port.',
    });
  const headers = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(payment === undefined ? {} : { 'PAYMENT-SIGNATURE': payment }),
  };
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(url, { ...sent, headers, signal, redirect: 'error' });
    return { status: answer.status, headers: answer.headers, body: objectOf(known(await bounded(answer, shop))) };
  } catch (cause) {
    if (cause instanceof TalariaError) throw cause;
    throw new TalariaError(`${shop} does not answer: ${errorText(cause)}`, {
      code: 'shop-silent',
      retryable: true,
      cause,
      fix: 'Try again later: talaria market purchases says where each one stands.',
    });
  }
}

async function bounded(answer: Response, shop: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.length;
    if (bytes > MOST_BYTES)
      throw new TalariaError(`${shop} sends more than ${MOST_BYTES} bytes`, { code: 'shop-too-large' });
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function unexpected(shop: string, status: number, body: JsonObject): TalariaError {
  return new TalariaError(`${shop} answers ${status}: ${why(body)}`, {
    code: 'shop-refused',
    retryable: status >= 500,
    fix: 'Ask the seller; no money moved by this answer.',
  });
}

function why(body: JsonObject): string {
  const { error } = body;
  return (typeof error === 'string' ? error : textOf(objectOf(error).message)).slice(0, 300);
}

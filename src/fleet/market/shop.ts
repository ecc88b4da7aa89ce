// Owns the selling side of the protocol (hierarchy notes B5, C22–C24): what is offered at what price, who paid for what, the key that he then gets, and
// what was published where. A shop is the seller's own or his agent's: it holds lots, which it can open for a buyer, and needs nobody's answer to do
// so. Knows no socket and no page. Invariants: no key leaves before the money is in the splitter or in the job; one payment is one sale, and its key is
// the same whoever asks again; a crash at any step is gone on with from rows and chain.
import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { type Hex, hashOf } from '#base/ethereum.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { type Chain, type Job, readCarried } from './chain.ts';
import { type Listing, priceAt } from './listing.ts';
import type { Lot, MarketRows, Sale } from './market-rows.ts';
import { type Offered, openTill, type Till, ZERO } from './payment.ts';
import { openKey, sealKey } from './seal.ts';

interface ShopGround {
  readonly chain: Chain;
  readonly till: Till;
  readonly rows: MarketRows;
  readonly clock: Clock;
  /** Private half of the box that its lots are sealed to, 64 hex characters. */
  readonly box: string;
  /** Most that is sold without escrow, micro-USDC. */
  readonly directLimit: bigint;
  /** Told once something was sold, or was not after all. */
  readonly told?: (kind: 'sold' | 'returned', sale: Sale) => Promise<unknown>;
}

/** What HTTP answers. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/** A buyer has so long, with delivery, to say whether he got what was described, s. */
const JOB_SECONDS = 3_600;
const HOUR = 3_600_000;
const BOX = /^[0-9a-f]{64}$/;
const HASH = /^0x[0-9a-f]{64}$/;

/** Of a job: binds the money to one listing and one buyer's box. Thirty characters, so that it costs one word of the chain. */
export function describeJob(listing: Hex, box: string): string {
  return createHash('sha256').update(`talaria market job 1\n${listing}\n${box}`).digest('base64url').slice(0, 30);
}

interface Taken {
  readonly sale?: Hex;
  readonly headers?: Readonly<Record<string, string>>;
  readonly why?: string;
}

/** Throws as the chain does. */
export async function openShop(ground: Omit<ShopGround, 'till'>): Promise<Shop> {
  return new Shop({ ...ground, till: await openTill(ground.chain) });
}

export class Shop {
  readonly #ground: ShopGround;
  /** One sale is worked at by one call at a time. */
  readonly #working = new Map<Hex, Promise<Sale>>();

  constructor(ground: ShopGround) {
    this.#ground = ground;
  }

  get rows(): MarketRows {
    return this.#ground.rows;
  }

  /** Micro-USDC, now. */
  price(listing: Listing): bigint {
    return priceAt(listing, this.#ground.clock.now());
  }

  /**
   * 402 with what is offered; with a payment for it: 200 and the name of the sale.
   * @param url of the request
   * @param box X25519 key that the content's key is to be sealed to
   * @param payment the header `PAYMENT-SIGNATURE`
   */
  async purchase(
    id: string,
    { url, box, payment }: { readonly url: string; readonly box: unknown; readonly payment?: string },
  ): Promise<Answer> {
    const lot = this.#onSale(id);
    if (lot === undefined) return notFound(id);
    const { evaluator, seller, splitter } = lot.listing;
    if ((await this.#ground.chain.isListed(lot.listing.id, seller)) !== splitter) return notFound(id);
    if (evaluator !== 'buyer' && evaluator !== this.#ground.chain.me)
      return refused(409, 'sold-by-agent', `It is sold by ${evaluator}, who decides whether it is what was described.`);
    if (typeof box !== 'string' || !BOX.test(box)) {
      return refused(400, 'box-invalid', 'body {"box": X25519 public key, 64 hex characters} is needed');
    }
    const taken: Taken = payment === undefined ? {} : await this.#take(lot.listing, box, payment);
    if (taken.sale === undefined) return this.#asks(url, lot.listing, taken.why);
    const { id: sale, job, state } = await this.goOn(taken.sale);
    return { status: 200, headers: taken.headers ?? {}, body: { sale, job, state } };
  }

  /** Nothing but a new payment for what is offered, or was until the hour struck, is taken. */
  async #take(listing: Listing, box: string, payment: string): Promise<Taken> {
    const { till, rows, chain } = this.#ground;
    const read = await till.read(payment, [...this.#offers(listing, 0), ...this.#offers(listing, HOUR)]);
    if (!read.ok) return { why: read.reason };
    const { via, payer, amount, nonce, payload, description } = read.value;
    if (via === 'escrow' && description !== describeJob(listing.id, box)) return { why: 'invalid_payload' };
    const asked = {
      id: nonce,
      listing: listing.id,
      via,
      payer,
      box,
      amount: String(amount),
      payment: payload,
    } as const;
    // What nobody signed leaves no row.
    const invalid = rows.sale(nonce) === undefined ? await till.verify(payload) : undefined;
    if (invalid !== undefined) return { why: invalid };
    const row = await rows.beginSale({ ...asked, block: Number(await chain.height()) });
    // A nonce is claimed by whoever names it: what its row stands for is not changed by who pays.
    const isIt = Object.entries(asked).every(([name, value]) => row[name as keyof Sale] === value);
    if (row.state !== 'asked' || !isIt) return { why: 'payment_used' };
    const settled = await till.settle(payload);
    if (settled.ok) {
      await rows.moveSale(nonce, 'paid', settled.value.job === undefined ? null : String(settled.value.job));
      return { sale: nonce, headers: { 'PAYMENT-RESPONSE': settled.value.header } };
    }
    // Somebody else may have sent it, or we before a crash: what the chain says counts.
    const { state } = await this.goOn(nonce);
    return state === 'asked' || state === 'unpaid' ? { why: settled.detail } : { sale: nonce };
  }

  #onSale(id: string): Lot | undefined {
    const lot = this.rows.lot(id);
    return lot?.withdrawn === false ? lot : undefined;
  }

  #offers(listing: Listing, ago: number): readonly Offered[] {
    const { clock, directLimit } = this.#ground;
    const amount = priceAt(listing, Math.max(listing.listed_at, clock.now() - ago));
    const offer = {
      amount,
      payTo: listing.splitter,
      evaluator: listing.evaluator === 'buyer' ? ZERO : listing.evaluator,
      jobSeconds: JOB_SECONDS,
    };
    const escrow = { ...offer, via: 'escrow' as const };
    return amount <= directLimit ? [{ ...offer, via: 'direct' as const }, escrow] : [escrow];
  }

  async #asks(url: string, listing: Listing, error?: string): Promise<Answer> {
    const { body, header } = await this.#ground.till.required(url, this.#offers(listing, 0), error);
    return {
      status: 402,
      headers: { 'PAYMENT-REQUIRED': header, 'Cache-Control': 'no-store' },
      body: body as unknown as JsonValue,
    };
  }

  /**
   * What was paid for, and its key in the buyer's box. A shop that holds the lot and never saw the payment looks at the chain.
   * @param given of a job that another shop was paid for
   */
  async deliver(sale: string, given: { readonly listing?: string; readonly box?: string } = {}): Promise<Answer> {
    const known = this.rows.sale(sale) ?? (await this.#adopt(sale, given));
    if (known === undefined) return refused(404, 'no-such-sale', 'Nothing was paid for here under that name.');
    const { state, sealed, listing, job } = await this.goOn(known.id);
    const lot = this.rows.lot(listing);
    if (sealed === null || lot === undefined || state === 'unpaid' || state === 'returned')
      return refused(409, 'not-paid', `This sale is ${state}.`);
    const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
    return { status: 200, body: { listing, job, ciphertext: base64(lot.ciphertext), sealed_key: base64(sealed) } };
  }

  /** Of a job that is wholly the payment for this listing and this box, a sale. */
  async #adopt(
    nonce: string,
    { listing, box }: { readonly listing?: string; readonly box?: string },
  ): Promise<Sale | undefined> {
    if (listing === undefined || box === undefined || !BOX.test(box) || !HASH.test(nonce)) return undefined;
    const asked = { id: nonce as Hex, listing: listing as Hex, box };
    const job = await this.#jobFor(asked);
    if (job === undefined) return undefined;
    const paid = { via: 'escrow', payer: job.client, amount: String(job.budget), payment: '', block: 0 } as const;
    const row = await this.rows.beginSale({ ...asked, ...paid });
    if (row.state !== 'asked' || row.listing !== asked.listing || row.box !== box) return undefined;
    return this.rows.moveSale(nonce, 'paid', String(job.id));
  }

  /**
   * The job that pays for this listing, whoever says so: to its splitter, decided by whom it names, of its price at least, bound to that box,
   * with the money in it or released from it, and as long as a key is worth it: one that ends at once would be money lent for a moment.
   */
  async #jobFor({ id: nonce, listing: id, box }: Pick<Sale, 'id' | 'listing' | 'box'>): Promise<Job | undefined> {
    const { chain } = this.#ground;
    const listing = this.rows.lot(id)?.listing;
    const number = listing === undefined ? undefined : await chain.jobOf(nonce);
    const job = number === undefined ? undefined : await chain.job(number);
    if (listing === undefined || job === undefined) return undefined;
    const evaluator = listing.evaluator === 'buyer' ? job.client : listing.evaluator;
    const isForIt =
      job.provider === listing.splitter && job.evaluator === evaluator && job.budget >= this.price(listing);
    const left = job.expiredAt - (await chain.now());
    const isLong = left >= JOB_SECONDS / 4 && left <= 2 * JOB_SECONDS;
    const isKept = job.status === 'completed' || (isLong && ['funded', 'submitted'].includes(job.status));
    return isForIt && isKept && (await chain.nonceOf(job, describeJob(id, box))) === nonce ? job : undefined;
  }

  /** One step after the other, as far as it can go now. */
  goOn(id: Hex): Promise<Sale> {
    const before = this.#working.get(id) ?? Promise.resolve();
    const work = before.then(
      () => this.#steps(id),
      () => this.#steps(id),
    );
    this.#working.set(id, work);
    const done = () => this.#working.get(id) === work && this.#working.delete(id);
    work.then(done, done);
    return work;
  }

  async #steps(id: Hex): Promise<Sale> {
    let sale = this.rows.sale(id);
    if (sale === undefined) throw new TalariaError(`There is no sale ${id}`, { code: 'no-such-sale' });
    if (sale.state === 'asked') sale = await this.#lookForPayment(sale);
    try {
      if (sale.state === 'paid') sale = await this.#giveKey(sale);
      if (sale.state === 'delivered') sale = await this.#close(sale);
      return sale;
    } catch (error) {
      // No node is so far behind: the chain took the payment back.
      if (errorCode(error) !== 'chain-behind' || this.#ground.clock.now() < sale.at + HOUR) throw error;
      return this.rows.moveSale(id, 'unpaid');
    }
  }

  /** A process ended between asking for the money and knowing that it came. */
  async #lookForPayment(sale: Sale): Promise<Sale> {
    const { chain } = this.#ground;
    if (sale.via === 'escrow') {
      const job = await this.#jobFor(sale);
      if (job !== undefined) return this.rows.moveSale(sale.id, 'paid', String(job.id));
    } else {
      const splitter = this.rows.lot(sale.listing)?.listing.splitter;
      // That a nonce was used says nothing: it may have paid anybody, or been sent by a shop that delivers it to another box.
      const sent = { from: sale.payer, nonce: sale.id, since: BigInt(sale.block) };
      if (splitter !== undefined && (await chain.didSettle(sent, splitter, BigInt(sale.amount))))
        return this.rows.moveSale(sale.id, 'paid');
    }
    // A signature is good for ten minutes; within them the buyer may come again.
    return this.#ground.clock.now() > sale.at + HOUR ? this.rows.moveSale(sale.id, 'unpaid') : sale;
  }

  async #giveKey(sale: Sale): Promise<Sale> {
    const { chain } = this.#ground;
    const lot = this.rows.lot(sale.listing);
    if (lot === undefined)
      throw new TalariaError(`The lot of ${sale.listing} is not here`, { code: 'no-such-listing' });
    const { splitter } = lot.listing;
    const job = sale.via === 'direct' ? undefined : await chain.funded(sale.id);
    if (job?.status === 'rejected' || job?.status === 'expired') return this.rows.moveSale(sale.id, 'returned');
    const sealed = sale.sealed ?? (await this.#seal(sale, lot, job));
    if (job?.status === 'funded') await chain.submit(splitter, job.id, await hashOf(sealed));
    await this.#ground.told?.('sold', sale);
    return this.rows.moveSale(sale.id, 'delivered', job === undefined ? null : String(job.id));
  }

  /** Never where the buyer could have the key and his money: another decides and was not asked, or other bytes were submitted. */
  async #seal(sale: Sale, { sealed, listing }: Lot, job: Job | undefined): Promise<Uint8Array> {
    const { chain, box } = this.#ground;
    const isDecidedHere = listing.evaluator === 'buyer' || listing.evaluator === chain.me;
    if (job !== undefined && job.status !== 'completed' && !isDecidedHere)
      throw new TalariaError(`${listing.evaluator} decides, and delivers it`, {
        ...{ code: 'sold-by-agent', fix: 'Ask at his shop.' },
      });
    // Sealed once more it is other bytes than those that were submitted, and the buyer could send it back.
    if (job?.status === 'submitted')
      throw new TalariaError(`Another shop has submitted the key of ${sale.listing}`, {
        ...{ code: 'submitted-elsewhere', fix: 'It delivers from there; if it never does, the money returns.' },
      });
    const opened = await openKey(Buffer.from(sealed), box, sale.listing);
    if (!opened.ok)
      throw new TalariaError(`The key of ${sale.listing} is sealed to another box`, {
        code: 'no-key',
        fix: 'Ask the seller to hand the lot over again.',
      });
    return this.rows.sealSale(sale, await sealKey(opened.value, sale.box, sale.listing));
  }

  /** Money that came to the splitter is parted. */
  async #close(sale: Sale): Promise<Sale> {
    const { chain } = this.#ground;
    const job = sale.via === 'direct' ? undefined : await chain.funded(sale.id);
    if (job?.status === 'rejected' || job?.status === 'expired') {
      await this.#ground.told?.('returned', sale);
      return this.rows.moveSale(sale.id, 'returned');
    }
    if (job !== undefined && job.status !== 'completed') return sale;
    const splitter = this.rows.lot(sale.listing)?.listing.splitter;
    if (splitter !== undefined && (await chain.balance(splitter)) > 0n) await chain.release(splitter);
    return this.rows.moveSale(sale.id, 'closed');
  }

  /** Everything that is not at its end; what fails now is tried at the next time. How many could not go on. */
  async goOnWithAll(): Promise<number> {
    let failed = 0;
    // What was paid does not wait behind what somebody only asked for.
    const open = (['paid', 'delivered', 'asked'] as const).flatMap((state) => this.rows.sales([state], 1_000));
    for (const { id } of open) {
      await this.goOn(id).catch(() => {
        failed += 1;
      });
    }
    return failed;
  }

  /** A buyer's signed `complete` or `reject`, sent for him: of a job of this shop. */
  async carry(given: JsonObject): Promise<Answer> {
    const { chain } = this.#ground;
    const call = readCarried(given);
    if (call === undefined) return refused(400, 'not-carried', 'A call has from, deadline, data and signature.');
    const sale = this.rows.saleOfJob(call.job);
    if (sale === undefined) return refused(404, 'no-such-job', 'Nothing that was sold here waits for that word.');
    await chain.carry(call);
    const { state } = await this.goOn(sale.id);
    return { status: 200, body: { state } };
  }
}

export function refused(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } };
}

export function notFound(id: string): Answer {
  return refused(404, 'no-such-listing', `There is no listing ${id.slice(0, 80)} here.`);
}

/** Of the home, lent. */
interface Log {
  append(topic: string, body: JsonValue): Promise<unknown>;
  /** Does a row of this topic tell of that listing? */
  tells(topic: string, id: Hex): boolean;
}

/** Both halves of what was listed and is not known everywhere yet; one that fails is tried at the next time, the other is not done again. */
export async function publishLots(
  rows: MarketRows,
  chain: Chain,
  log: Log,
): Promise<readonly { readonly id: Hex; readonly failed?: string }[]> {
  const told: { id: Hex; failed?: string }[] = [];
  for (const lot of rows.halfPublished()) {
    const { id } = lot.listing;
    const failed = await publish(lot, { rows, chain, log }).catch((error: unknown) => errorText(error));
    told.push(failed === undefined ? { id } : { id, failed });
  }
  return told;
}

async function publish(
  { listing, parties, onLog, onChain }: Lot,
  { rows, chain, log }: { readonly rows: MarketRows; readonly chain: Chain; readonly log: Log },
): Promise<undefined> {
  const { id, seller, key_commit, content_hash } = listing;
  if (!onChain) {
    if ((await chain.isListed(id, seller)) === undefined) await chain.list(key_commit, parties, id, content_hash);
    await rows.markLot(id, 'on_chain');
  }
  // Killed behind the row of the log and before its mark, it was told.
  if (!onLog && !log.tells('market.listed', id))
    await log.append('market.listed', { listing: { ...listing } as unknown as JsonValue });
  await rows.markLot(id, 'on_log');
}

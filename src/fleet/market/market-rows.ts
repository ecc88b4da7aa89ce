// Owns `<home>/market/market.db`: what this home offers, what it sold, which keys it gave to whom, and what it bought. Knows no chain and no network.
// Invariants: each step of a sale or a purchase is a row before the next begins; a state is left for one that may follow it, by one process; what
// was signed counts against the day's allowance until it is certain that no money moved.
import { join } from 'node:path';
import { type Clock, localDay } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import type { Hex } from '#base/ethereum.ts';
import { parseJson } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import type { Sale as Parties } from './chain.ts';
import type { Listing } from './listing.ts';

const TEXT = 'TEXT NOT NULL';
const LOTS = [
  ...['id TEXT PRIMARY KEY', `listing ${TEXT}`, `sale ${TEXT}`, 'ciphertext BLOB NOT NULL', 'sealed BLOB NOT NULL'],
  ...[`category ${TEXT}`, 'listed_at INTEGER NOT NULL', 'on_log INTEGER NOT NULL DEFAULT 0'],
  ...['on_chain INTEGER NOT NULL DEFAULT 0', 'withdrawn INTEGER NOT NULL DEFAULT 0'],
];
const SALES = [
  ...['id TEXT PRIMARY KEY', `listing ${TEXT}`, `via ${TEXT}`, `payer ${TEXT}`, `box ${TEXT}`, `amount ${TEXT}`],
  ...[`state ${TEXT}`, `payment ${TEXT}`, 'job TEXT', 'sealed BLOB', 'at INTEGER NOT NULL', 'block INTEGER NOT NULL'],
];
const KEYS_GIVEN = [
  ...['seq INTEGER PRIMARY KEY', 'at INTEGER NOT NULL', `listing ${TEXT}`, `sale ${TEXT} UNIQUE`, `box ${TEXT}`],
];
const PURCHASES = [
  ...['id TEXT PRIMARY KEY', `shop ${TEXT}`, `listing ${TEXT}`, `listing_id ${TEXT}`, `via ${TEXT}`, `purse ${TEXT}`],
  ...['amount INTEGER NOT NULL', `box ${TEXT}`, `payment ${TEXT}`, `state ${TEXT}`, `nonce ${TEXT}`, 'job TEXT'],
  ...['content BLOB', 'why TEXT', `day ${TEXT}`, 'at INTEGER NOT NULL', 'file TEXT'],
];

const schema: RoomSchema = {
  room: 'market',
  steps: [
    [
      `CREATE TABLE lots(${LOTS.join(', ')}) WITHOUT ROWID`,
      'CREATE INDEX lots_by_age ON lots(withdrawn, listed_at)',
      `CREATE TABLE sales(${SALES.join(', ')}) WITHOUT ROWID`,
      'CREATE INDEX sales_by_age ON sales(at)',
      'CREATE INDEX sales_by_job ON sales(job)',
      `CREATE TABLE keys_given(${KEYS_GIVEN.join(', ')})`,
      `CREATE TABLE purchases(${PURCHASES.join(', ')}) WITHOUT ROWID`,
      'CREATE INDEX purchases_by_day ON purchases(purse, day)',
      `CREATE TABLE shops_seen(shop TEXT PRIMARY KEY, listings ${TEXT}, failed TEXT, at INTEGER NOT NULL) WITHOUT ROWID`,
      `CREATE TABLE allowances(golem TEXT PRIMARY KEY, word ${TEXT}) WITHOUT ROWID`,
      `CREATE TABLE spent(nonce TEXT PRIMARY KEY, purse ${TEXT}, day ${TEXT}, amount INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID`,
      `CREATE TABLE reviews(job TEXT PRIMARY KEY, listing ${TEXT}, review ${TEXT}, at INTEGER NOT NULL) WITHOUT ROWID`,
    ].join(';'),
  ],
};

/** On sale, and on the chain. */
const SHOWN = 'withdrawn = 0 AND on_chain = 1';

/** What a shop holds of a listing: nobody can read it without the key of the box that `sealed` is for. */
export interface Lot {
  readonly listing: Listing;
  readonly ciphertext: Uint8Array;
  /** Key and salt, sealed to a box of this home. */
  readonly sealed: Uint8Array;
  /** Who gets what of its price. */
  readonly parties: Parties;
  readonly onLog: boolean;
  readonly onChain: boolean;
  readonly withdrawn: boolean;
}

/** `asked`: somebody pays, and nobody knows yet whether he has. `delivered`: the key is sealed to the buyer. The last three are ends. */
export type SaleState = 'asked' | 'paid' | 'delivered' | 'closed' | 'returned' | 'unpaid';

export interface Sale {
  /** Nonce of what was signed. */
  readonly id: Hex;
  readonly listing: Hex;
  readonly via: 'direct' | 'escrow';
  readonly payer: Hex;
  /** X25519 key of the buyer, 64 hex characters. */
  readonly box: string;
  /** Micro-USDC. */
  readonly amount: string;
  readonly state: SaleState;
  /** What was signed, as JSON. */
  readonly payment: string;
  /** Of the escrow. */
  readonly job: string | null;
  readonly sealed: Uint8Array | null;
  readonly at: number;
  /** Newest one of the chain when it began. */
  readonly block: number;
}

/** From `signed` on money may have moved; `completed` stands for both ways; the last five are ends. */
export type PurchaseState =
  | 'signed'
  | 'paid'
  | 'opened'
  | 'completed'
  | ('ingested' | 'saved' | 'rejected' | 'refunded' | 'dropped');

/** The money is not back, or may have gone. */
const STANDS = "state NOT IN ('rejected', 'refunded', 'dropped')";

const MAY_FOLLOW: Readonly<Record<PurchaseState, readonly PurchaseState[]>> = {
  signed: ['paid', 'dropped'],
  paid: ['opened', 'rejected', 'refunded', 'dropped'],
  opened: ['completed', 'refunded', 'rejected', 'dropped'],
  completed: ['ingested', 'saved'],
  // It may have been taken after all, when a chain was behind.
  ...{ ingested: ['saved'], saved: ['ingested'], rejected: [], refunded: [], dropped: ['paid'] },
};

export interface Purchase {
  readonly id: string;
  /** Address of the shop. */
  readonly shop: string;
  readonly listing: Listing;
  readonly via: 'direct' | 'escrow';
  /** Address that pays. */
  readonly purse: Hex;
  /** Micro-USDC. */
  readonly amount: number;
  /** Private half of the box made for it: without it what was paid for cannot be opened. */
  readonly box: string;
  /** What was signed, as JSON. */
  readonly payment: string;
  readonly state: PurchaseState;
  /** Of what was signed: the shop's name of the sale. */
  readonly nonce: Hex;
  readonly job: string | null;
  /** From `opened` on. */
  readonly content: Uint8Array | null;
  /** Why it ended as it did. */
  readonly why: string | null;
  readonly at: number;
  /** Where its owner wants it, instead of the library. */
  readonly file: string | null;
}

export class MarketRows {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async addLot(lot: Omit<Lot, 'onLog' | 'onChain' | 'withdrawn'>): Promise<void> {
    const { listing, parties, ciphertext, sealed } = lot;
    await this.#write(() =>
      this.#database.run(
        'INSERT OR IGNORE INTO lots(id, listing, sale, ciphertext, sealed, category, listed_at) VALUES(?, ?, ?, ?, ?, ?, ?)',
        ...[listing.id, JSON.stringify(listing), JSON.stringify(parties), ciphertext, sealed],
        ...[listing.category, listing.listed_at],
      ),
    );
  }

  async markLot(id: Hex, mark: 'on_log' | 'on_chain' | 'withdrawn'): Promise<void> {
    await this.#write(() => this.#database.run(`UPDATE lots SET ${mark} = 1 WHERE id = ?`, id));
  }

  lot(id: string): Lot | undefined {
    const row = this.#database.get<LotRow>('SELECT * FROM lots WHERE id = ?', id);
    return row && lotOf(row);
  }

  /** On sale, the newest first; the sealed content is not among it. `before`: the listed_at and id of the last one of the page before. */
  listings(options: {
    readonly category?: string;
    readonly before?: readonly [listedAt: number, id: string];
    readonly limit: number;
  }): readonly Listing[] {
    const [at, id] = options.before ?? [Number.MAX_SAFE_INTEGER, ''];
    const rows = this.#database.all<{ listing: string }>(
      `SELECT listing FROM lots WHERE ${SHOWN} AND (listed_at, id) < (?1, ?2) AND (?3 IS NULL OR category = ?3)
       ORDER BY listed_at DESC, id DESC LIMIT ?4`,
      ...[at, id, options.category ?? null, options.limit],
    );
    return rows.map(({ listing }) => stored<Listing>(listing));
  }

  /** Those of this home whose news one half has not got yet. */
  halfPublished(): readonly Lot[] {
    return this.#database
      .all<LotRow>('SELECT * FROM lots WHERE withdrawn = 0 AND (on_log = 0 OR on_chain = 0) ORDER BY listed_at')
      .map(lotOf);
  }

  categories(): readonly { readonly category: string; readonly count: number }[] {
    return this.#database.all(
      `SELECT category, count(*) AS count FROM lots WHERE ${SHOWN} GROUP BY category ORDER BY category`,
    );
  }

  /** Another one when what is on sale changed. */
  stamp(): string {
    const sql =
      'SELECT count(*) AS lots, max(listed_at) AS newest, sum(withdrawn) AS gone, sum(on_chain) AS shown FROM lots';
    return JSON.stringify(this.#database.get(sql));
  }

  /** What is known of who sells. */
  seller(address: string): { readonly seller: string; readonly listings: number; readonly sold: number } {
    const pairs = "lots LEFT JOIN sales ON sales.listing = lots.id AND sales.state = 'closed'";
    const counts = 'count(DISTINCT lots.id) AS listings, count(sales.id) AS sold';
    const sql = `SELECT ${counts} FROM ${pairs} WHERE lots.listing ->> 'seller' = ?`;
    const found = this.#database.get<{ listings: number; sold: number }>(sql, address.toLowerCase());
    return { seller: address, listings: found?.listings ?? 0, sold: found?.sold ?? 0 };
  }

  /** Begins it; what is there already is given back. */
  async beginSale(sale: Omit<Sale, 'at' | 'sealed' | 'state' | 'job'>): Promise<Sale> {
    await this.#write(() =>
      this.#database.run(
        `INSERT OR IGNORE INTO sales VALUES(?, ?, ?, ?, ?, ?, 'asked', ?, NULL, NULL, ?, ?)`,
        ...[sale.id, sale.listing, sale.via, sale.payer, sale.box, sale.amount, sale.payment],
        ...[this.#clock.now(), sale.block],
      ),
    );
    return this.sale(sale.id) as Sale;
  }

  async moveSale(id: string, state: SaleState, job: string | null = null): Promise<Sale> {
    const sql = 'UPDATE sales SET state = ?, job = coalesce(?, job) WHERE id = ?';
    await this.#write(() => this.#database.run(sql, state, job, id));
    return this.sale(id) as Sale;
  }

  sale(id: string): Sale | undefined {
    return this.#database.get<Sale>('SELECT * FROM sales WHERE id = ?', id);
  }

  saleOfJob(job: string): Sale | undefined {
    return this.#database.get<Sale>('SELECT * FROM sales WHERE job = ?', job);
  }

  /** The newest first. */
  sales(states: readonly SaleState[] | undefined, limit: number): readonly Sale[] {
    const sql = `SELECT * FROM sales WHERE ?1 IS NULL OR state IN (SELECT value FROM json_each(?1)) ORDER BY at DESC, id LIMIT ?2`;
    return this.#database.all(sql, states === undefined ? null : JSON.stringify(states), limit);
  }

  /** The key in the buyer's box, and the row that says it was given: once for each sale, so that what is submitted is what is delivered. */
  async sealSale({ id, listing, box }: Pick<Sale, 'listing' | 'id' | 'box'>, sealed: Uint8Array): Promise<Uint8Array> {
    await this.#write(() => {
      this.#database.run('UPDATE sales SET sealed = coalesce(sealed, ?) WHERE id = ?', sealed, id);
      const sql = 'INSERT OR IGNORE INTO keys_given(at, listing, sale, box) VALUES(?, ?, ?, ?)';
      this.#database.run(sql, this.#clock.now(), listing, id, box);
    });
    return this.sale(id)?.sealed ?? sealed;
  }

  keysGiven(): readonly { readonly at: number; readonly listing: Hex; readonly sale: Hex; readonly box: string }[] {
    return this.#database.all('SELECT at, listing, sale, box FROM keys_given ORDER BY seq');
  }

  /** Throws TalariaError `over-allowance`, `already-bought`. `perDay`: micro-USDC of one purse within a local day, whoever asks. */
  async sign(purchase: Omit<Purchase, 'state' | 'job' | 'content' | 'why' | 'at'>, perDay: number): Promise<void> {
    const { id, shop, listing, via, purse, amount, box, payment, nonce, file } = purchase;
    const at = this.#clock.now();
    const day = localDay(at);
    await this.#write(() => {
      this.#refuseTwice(listing.id);
      const left = perDay - this.spent(purse, day);
      if (amount > left) {
        throw new TalariaError(
          `${dollars(amount)} is more than what is left of today's ${dollars(perDay)}: ${dollars(Math.max(0, left))}`,
          { code: 'over-allowance', fix: 'Wait until tomorrow, or raise market.per_day in config.yaml.' },
        );
      }
      this.#database.run(
        `INSERT INTO purchases VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 'signed', ?, NULL, NULL, NULL, ?, ?, ?)`,
        ...[id, shop, JSON.stringify(listing), listing.id, via, purse, amount, box, payment, nonce, day, at, file],
      );
    });
  }

  #refuseTwice(listing: Hex): void {
    const sql = `SELECT id, state FROM purchases WHERE listing_id = ? AND ${STANDS}`;
    const there = this.#database.get<{ id: string; state: PurchaseState }>(sql, listing);
    if (there === undefined) return;
    throw new TalariaError(`It is bought already: ${there.id} is ${there.state}`, {
      ...{ code: 'already-bought', fix: `talaria market resume ${there.id} goes on with it.` },
    });
  }

  /** Micro-USDC, of one purse. */
  spentToday(purse: Hex): number {
    return this.spent(purse, localDay(this.#clock.now()));
  }

  /** What was rejected or came back is not spent. */
  spent(purse: Hex, day: string): number {
    const sql = `SELECT coalesce(sum(amount), 0) AS sum FROM purchases WHERE purse = ? AND day = ? AND ${STANDS}`;
    return this.#database.get<{ sum: number }>(sql, purse, day)?.sum ?? 0;
  }

  /** False: another process moved it, or it may not go there. */
  async move(
    purchase: Pick<Purchase, 'id' | 'state'>,
    state: PurchaseState,
    { job, content, why }: Partial<Pick<Purchase, 'job' | 'content' | 'why'>> = {},
  ): Promise<boolean> {
    if (!MAY_FOLLOW[purchase.state].includes(state)) return false;
    const sql = `UPDATE purchases SET state = ?, job = coalesce(?, job), content = coalesce(?, content), why = coalesce(?, why)
      WHERE id = ? AND state = ?`;
    const { changes } = await this.#write(() =>
      this.#database.run(sql, ...[state, job ?? null, content ?? null, why ?? null, purchase.id, purchase.state]),
    );
    return changes === 1;
  }

  purchase(id: string): Purchase | undefined {
    const row = this.#database.get<PurchaseRow>('SELECT * FROM purchases WHERE id = ?', id);
    return row && purchaseOf(row);
  }

  /** The newest first. */
  purchases(limit: number): readonly Purchase[] {
    return this.#database
      .all<PurchaseRow>('SELECT * FROM purchases ORDER BY at DESC, id LIMIT ?', limit)
      .map(purchaseOf);
  }

  /** What its owner signed that a golem may pay, as JSON; undefined: nothing any more. */
  async allow(golem: string, word: string | undefined): Promise<void> {
    await this.#write(() => {
      this.#database.run('DELETE FROM allowances WHERE golem = ?', golem);
      if (word !== undefined) this.#database.run('INSERT INTO allowances VALUES(?, ?)', golem, word);
    });
  }

  allowances(): readonly { readonly golem: string; readonly word: string }[] {
    return this.#database.all('SELECT golem, word FROM allowances ORDER BY golem');
  }

  /** What a golem signed for Meta. False: with it the day would be dearer than that. Micro-USDC. */
  spend({ nonce, purse, amount }: Pick<Purchase, 'nonce' | 'purse' | 'amount'>, perDay: number): Promise<boolean> {
    const at = this.#clock.now();
    return this.#write(() => {
      if (amount > perDay - this.paidToday(purse)) return false;
      this.#database.run('INSERT INTO spent VALUES(?, ?, ?, ?, ?)', nonce, purse, localDay(at), amount, at);
      return true;
    });
  }

  paidToday(purse: Hex): number {
    const sql = 'SELECT coalesce(sum(amount), 0) AS sum FROM spent WHERE purse = ? AND day = ?';
    return this.#database.get<{ sum: number }>(sql, purse, localDay(this.#clock.now()))?.sum ?? 0;
  }

  /** What a shop said when it was looked at; `failed`: why it said nothing, and then what it said before stands. */
  async seeShop(shop: string, listings: readonly Listing[], failed?: string): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO shops_seen VALUES(?, ?, ?, ?)';
    const values = [shop, JSON.stringify(listings), failed ?? null, this.#clock.now()];
    await this.#write(() => this.#database.run(sql, ...values));
  }

  shopsSeen(): readonly SeenShop[] {
    const rows = this.#database.all<Omit<SeenShop, 'listings'> & { listings: string }>('SELECT * FROM shops_seen');
    return rows.map((row) => ({ ...row, listings: stored<readonly Listing[]>(row.listings) }));
  }

  /** False: of this job there is one. */
  async addReview(job: string, listing: Hex, review: string): Promise<boolean> {
    const sql = 'INSERT OR IGNORE INTO reviews VALUES(?, ?, ?, ?)';
    return (await this.#write(() => this.#database.run(sql, job, listing, review, this.#clock.now()))).changes === 1;
  }

  reviews(listing: string): readonly string[] {
    const sql = 'SELECT review FROM reviews WHERE listing = ? ORDER BY at LIMIT 100';
    return this.#database.all<{ review: string }>(sql, listing).map(({ review }) => review);
  }

  close(): void {
    if (!this.#database.isClosed) this.#database.close();
  }

  #write<T>(work: () => T): Promise<T> {
    return this.#database.transaction(work);
  }
}

export interface SeenShop {
  readonly shop: string;
  readonly listings: readonly Listing[];
  readonly failed: string | null;
  readonly at: number;
}

interface LotRow {
  readonly listing: string;
  readonly sale: string;
  readonly ciphertext: Uint8Array;
  readonly sealed: Uint8Array;
  readonly on_log: number;
  readonly on_chain: number;
  readonly withdrawn: number;
}

function lotOf({ listing, sale, ciphertext, sealed, ...row }: LotRow): Lot {
  return {
    ...{ listing: stored<Listing>(listing), parties: stored<Parties>(sale), ciphertext, sealed },
    ...{ onLog: row.on_log === 1, onChain: row.on_chain === 1, withdrawn: row.withdrawn === 1 },
  };
}

type PurchaseRow = Omit<Purchase, 'listing'> & { readonly listing: string };

function purchaseOf(row: PurchaseRow): Purchase {
  return { ...row, listing: stored<Listing>(row.listing) };
}

/** `$0.40`, with the digits that it has. */
export function dollars(micro: number | bigint): string {
  const digits = String(micro).padStart(7, '0');
  const cents = digits.slice(-6).replace(/0{1,4}$/, '');
  return `$${digits.slice(0, -6)}.${cents}`;
}

/** What this room wrote. */
function stored<T>(json: string): T {
  const read = parseJson(json);
  if (read.ok) return read.value as T;
  throw new TalariaError('a row of market.db holds no JSON', {
    code: 'market-db-torn',
    fix: 'Put market/market.db back from a backup.',
  });
}

/** Throws as `openDatabase`. */
export function openMarketRows(home: string, clock: Clock): MarketRows {
  const folder = join(home, 'market');
  privateFolder(folder);
  const { database } = openDatabase(join(folder, 'market.db'), { rooms: [schema], clock });
  return new MarketRows(database, clock);
}

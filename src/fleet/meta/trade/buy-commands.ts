// Owns the commands of who buys: what is looked at and paid for, what becomes of it (the library, or a file), and what is said of it afterwards.
// Invariants: nothing is paid without a yes, above the owner's limits or twice; what was paid for goes on from where it was, whatever was killed.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { isYes } from '#base/text.ts';
import * as spec from '#core/agent/command-spec.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, line } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { openChain } from '#fleet/market/chain.ts';
import { type Listing, priceAt } from '#fleet/market/listing.ts';
import { dollars, type Purchase, type PurchaseState } from '#fleet/market/market-rows.ts';
import { type BuyerGround, buy, goOn, sendReview } from '#fleet/market/purchase.ts';
import type { LibraryEntry } from '#fleet/styx/clade.ts';
import { entryOf, withLibrary } from '../library/library-home.ts';
import { addBought } from '../library/reception.ts';
import { type Desk, failureOf, findListing, marketCommand, seen, told } from './desk.ts';
import { none, seenId } from './sell-commands.ts';
import { buyingPurse } from './sponsor.ts';
import { micro } from './trade-settings.ts';

export function buyCommands(ground: Ground): readonly AnyCommand[] {
  return [buyCommand(ground), purchasesCommand(ground), resumeCommand(ground), reviewCommand(ground)];
}

const save = z.string().optional().describe('File that it is written to, instead of the library');

const buying = z.object({
  id: seenId,
  shop: z.string().optional().describe('Address of a shop; default those of market.shops'),
  via: z.enum(['escrow', 'direct']).optional().describe('Default direct up to market.direct_limit, else escrow'),
  save,
  from: z.string().optional().describe('Golem whose purse pays, as far as market allow lets it'),
  yes: z.boolean().default(false).describe('Do not ask'),
});
type Buying = z.output<typeof buying>;

function buyCommand(ground: Ground): AnyCommand {
  const about = { summary: 'Buy a skill: into the library, or as a file', input: buying, positional: ['id'] };
  return marketCommand(ground, `buy 0x${'ab'.repeat(32)}`, about, async function* (desk, asked, context) {
    const file = fileIn(asked.save, context);
    if (file instanceof TalariaError) return yield spec.wrongUse(file.code, file.message);
    const { shop, listing } = await findListing(desk, asked.id, asked.shop);
    if (listing.item === 'entry' && file === null)
      return yield spec.wrongUse('no-skill', 'It is no skill, so the library cannot take it in.', 'Say --save FILE.');
    const price = priceAt(listing, ground.clock.now());
    const via = asked.via ?? (price <= micro(desk.settings.direct_limit) ? 'direct' : 'escrow');
    yield* seen(listing);
    yield line(`costs ${dollars(price)}, ${how(via, listing)}`);
    const no = await askedNo(asked, price, context);
    if (no !== undefined) return yield no;
    const buyer = await buyerOf(desk, asked.from);
    const { me } = buyer.chain;
    if ((await buyer.chain.balance(me)) < price)
      return yield spec.failed('too-poor', `${me} has not ${dollars(price)}.`, 'Send USDC of that chain there first.');
    yield* finish(desk, await buy(buyer, { shop, id: listing.id, via, file }));
  });
}

function how(via: Purchase['via'], { evaluator }: Listing): string {
  if (via === 'direct') return 'paid at once: if it is not what was described, the money is gone';
  const who = evaluator === 'buyer' ? 'it is what was described' : `${evaluator} says that it is what was described`;
  return `kept in escrow until it is here and ${who}`;
}

async function askedNo({ yes }: Buying, price: bigint, { ask }: CommandContext): Promise<CommandOutput | undefined> {
  if (yes) return undefined;
  if (ask === undefined) return spec.refused('not-confirmed', 'Nothing is paid without your yes.', 'Say --yes.');
  return isYes(await ask(`Pay ${dollars(price)}? [y/N] `)) ? undefined : line('Nothing is paid.');
}

function fileIn(name: string | undefined, { cwd }: CommandContext): string | null | TalariaError {
  if (name === undefined) return null;
  const path = resolve(cwd, name);
  if (existsSync(path)) return new TalariaError(`${path} is there already.`, { code: 'file-there' });
  const folder = dirname(path);
  return existsSync(folder) ? path : new TalariaError(`There is no folder ${folder}.`, { code: 'no-such-folder' });
}

/** The owner, or a golem that he allowed to buy. */
async function buyerOf(desk: Desk, golem?: string): Promise<BuyerGround> {
  const { ground, settings, rows } = desk;
  const own = await desk.trade();
  const { limit, per_day: day, direct_limit: direct } = settings;
  const limits = { payment: micro(limit), day: micro(day), direct: micro(direct) };
  const buyer = { rows, clock: ground.clock };
  if (golem === undefined) return { ...buyer, chain: own.chain, key: own.key, limits };
  const { key, perDay } = await buyingPurse(desk, golem);
  return { ...buyer, key, chain: await openChain(own.chain.places, key), limits: { ...limits, day: BigInt(perDay) } };
}

/** Who signed it goes on with it, whatever he may sign now. */
async function payerOf(desk: Desk, own: BuyerGround, purse: string): Promise<BuyerGround> {
  if (purse === own.chain.me) return own;
  const golems = await desk.ground.door('golems');
  const name = (await golems.states()).find(({ signer }) => signer === purse)?.name;
  const key = name === undefined ? undefined : await golems.purse(name);
  return key === undefined ? own : { ...own, key, chain: await openChain(own.chain.places, key) };
}

/** States from which on the content is there and paid. */
const OWNED: readonly PurchaseState[] = ['completed', 'ingested', 'saved'];

/** What was bought comes to where its owner wants it. */
async function* finish(desk: Desk, purchase: Purchase, instead: string | null = null): AsyncGenerator<CommandOutput> {
  const { id: name, listing, state, content, amount, via, why } = purchase;
  const file = instead ?? purchase.file;
  if (!OWNED.includes(state) || content === null)
    return yield spec.failed(
      `purchase-${state}`,
      `${listing.name}: ${why ?? `the purchase is ${state}`}.`,
      ENDS[state] ?? '',
    );
  // Told again after a crash rather than never.
  if (state === 'completed')
    await desk.tell('bought', { purchase: name, listing: listing.id, via, amount: String(amount) });
  if (file !== null) return yield* intoFile(desk, purchase, file, content);
  const taken = await intoLibrary(desk, listing, content);
  if (!taken.ok)
    return yield spec.failed(taken.reason, taken.detail, `It is yours: talaria market resume ${name} --save FILE`);
  if (state === 'completed') await desk.rows.move(purchase, 'ingested');
  const { name: entry, waits } = taken.value;
  yield line(
    waits === undefined ? `${entry} stands in the library.` : `${entry} is in the library and waits: ${waits}`,
  );
  yield told({ purchase: name, state: 'ingested', entry, ...(waits === undefined ? {} : { waits }) });
}

async function* intoFile(
  { rows }: Desk,
  purchase: Purchase,
  file: string,
  content: Uint8Array,
): AsyncGenerator<CommandOutput> {
  const { id: name, listing } = purchase;
  const why = whyNotInto(file, content);
  if (why !== undefined)
    return yield spec.failed('file-there', why, `talaria market resume ${name} --save FILE takes another.`);
  atomicWrite(file, content);
  await rows.move(purchase, 'saved');
  yield line(`${listing.name} is in ${file}.`);
  yield told({ purchase: name, state: 'saved', file });
}

/** It may have been written before a crash. */
function whyNotInto(file: string, content: Uint8Array): string | undefined {
  if (!existsSync(dirname(file))) return `There is no folder ${dirname(file)}.`;
  const isOther = existsSync(file) && !readFileSync(file).equals(content);
  return isOther ? `${file} is there already, and is another one.` : undefined;
}

const ENDS: Partial<Record<PurchaseState, string>> = {
  rejected: 'Your money came back; tell others with care what this shop sells.',
  refunded: 'Your money came back.',
  dropped: 'No money moved: buy it again.',
};

function intoLibrary({ ground }: Desk, listing: Listing, content: Uint8Array): ReturnType<typeof addBought> {
  const text = Buffer.from(content).toString('utf8');
  return withLibrary(ground, (library) => addBought(library, text, listing));
}

function purchasesCommand(ground: Ground): AnyCommand {
  const about = { summary: 'What was bought here, and how each purchase stands', input: none };
  return marketCommand(ground, 'purchases', about, async function* ({ rows }) {
    const all = rows.purchases(200);
    if (all.length === 0) yield line('Nothing was bought yet.');
    else
      yield {
        type: 'table',
        columns: ['purchase', 'skill', 'for', 'by', 'state', 'at', 'why'],
        rows: all.map(({ id: name, listing, amount, via, state, at, why }) => [
          ...[name, listing.name, dollars(amount), via, state, isoTime(at), why ?? ''],
        ]),
      };
    yield told(
      all.map(({ id: name, listing, amount, via, state, job, at }) => ({
        purchase: name,
        listing: listing.id,
        amount,
        via,
        state,
        job,
        at,
      })),
    );
  });
}

const DAY_MS = 86_400_000;
const UNFINISHED: readonly PurchaseState[] = ['signed', 'paid', 'opened', 'completed'];

function resumeCommand(ground: Ground): AnyCommand {
  const input = z.object({
    purchase: z.string().optional().describe('As `market purchases` names it; default all that are not at their end'),
    shop: z.string().optional().describe("To be asked instead of the one that was paid: the seller's agent"),
    save,
  });
  const about = { summary: 'Go on with purchases that were interrupted', input, positional: ['purchase'] };
  return marketCommand(ground, 'resume', about, async function* (desk, asked, context) {
    const file = fileIn(asked.save, context);
    if (file instanceof TalariaError) return yield spec.wrongUse(file.code, file.message);
    if (file !== null && asked.purchase === undefined)
      return yield spec.wrongUse(
        'which-purchase',
        'Which purchase is to be saved?',
        'talaria market purchases lists them.',
      );
    // What was dropped lately may have been taken after all.
    const since = ground.clock.now() - DAY_MS;
    const isOpen = ({ state, at }: Purchase) => UNFINISHED.includes(state) || (state === 'dropped' && at > since);
    const open = desk.rows.purchases(10_000).filter(isOpen);
    const names = asked.purchase === undefined ? open.map((one) => one.id) : [asked.purchase];
    if (names.length === 0) return yield line('Every purchase is at its end.');
    const buyer = await buyerOf(desk);
    for (const name of names) yield* goOnWith(desk, buyer, { name, file, shop: asked.shop });
  });
}

/** One that cannot go on now holds up no other. */
async function* goOnWith(
  desk: Desk,
  buyer: BuyerGround,
  { name, file, shop }: { readonly name: string; readonly file: string | null; readonly shop: string | undefined },
): AsyncGenerator<CommandOutput> {
  try {
    const { purse = buyer.chain.me, state: before } = desk.rows.purchase(name) ?? {};
    const purchase = await goOn(await payerOf(desk, buyer, purse), name, shop);
    const isAsWas = before === 'dropped' && purchase.state === 'dropped';
    if (isAsWas) yield line(`${name} was dropped: no money moved.`);
    else yield* finish(desk, purchase, file);
  } catch (error) {
    yield failureOf(error);
  }
}

/** What golems of this home told of it; undefined: it is not in the library. */
function recordOf(entries: readonly LibraryEntry[], name: string) {
  const { validated, contradicted } = entries.find((one) => one.name === name) ?? {};
  if (validated === undefined || contradicted === undefined) return undefined;
  return { uses: validated + contradicted, successes: validated };
}

function reviewCommand(ground: Ground): AnyCommand {
  const input = z.object({
    purchase: z.string().describe('As `market purchases` names it, or the listing'),
    stars: z.coerce.number().int().min(1).max(5),
    text: z.string().min(1).max(1_000),
    record: z.boolean().default(false).describe('Say, too, how often it was used here, and how often it worked'),
  });
  const about = { summary: 'Say in its shop what a skill was worth', input, positional: ['purchase'] };
  return marketCommand(ground, 'review purchase_x --stars 4 --text "It works."', about, async function* (desk, asked) {
    const isIt = ({ id: name, listing }: Purchase) => name === asked.purchase || listing.id === asked.purchase;
    const purchase = desk.rows.purchases(10_000).find(isIt);
    if (purchase === undefined)
      return yield spec.failed('no-such-purchase', 'It was not bought here.', 'talaria market purchases lists them.');
    const { stars, text } = asked;
    const { name } = purchase.listing;
    const record = asked.record
      ? await withLibrary(ground, async (library) => recordOf(library.entries().map(entryOf), name))
      : undefined;
    await sendReview(await payerOf(desk, await buyerOf(desk), purchase.purse), purchase, {
      stars,
      text,
      ...(record ? { record } : {}),
    });
    await desk.tell('reviewed', { listing: purchase.listing.id, stars });
    yield line(`${purchase.shop} has your review.`);
    yield told({ reviewed: purchase.listing.id });
  });
}

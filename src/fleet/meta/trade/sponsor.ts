// Owns what golems may pay (hierarchy notes RQ.3): the owner's signed word that one may, for what Meta asks or for skills, so much a day and until when;
// and the payment by x402 from its key. Knows no model. Invariants: nothing is signed without that word, after its end, above its day, or for anything but what Meta asks; what
// was signed is a row before it leaves, and counts as spent.
import { z } from 'zod';
import { isoTime, parseTime } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { addressOf, type Hex } from '#base/ethereum.ts';
import { parseJson } from '#base/json.ts';
import * as spec from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { openChain } from '#fleet/market/chain.ts';
import { dollars, type MarketRows, openMarketRows } from '#fleet/market/market-rows.ts';
import { signPayment, ZERO } from '#fleet/market/payment.ts';
import { isSignedBy, ownerOf } from '#fleet/styx/owner-key.ts';
import { doorOf } from '../meta-ground.ts';
import { type Desk, marketCommand, told } from './desk.ts';
import { allowMoney, micro, placesOf, settingsOf } from './trade-settings.ts';

const allowance = z.strictObject({
  ...{ golem: z.string(), name: z.string(), signer: z.string() },
  /** Micro-USDC, and epoch ms. */
  ...{ per_day: z.int().min(0), until: z.int(), for: z.enum(['meta', 'market']) },
});
type Allowance = z.output<typeof allowance>;
const signedWord = z.object({ said: allowance, by: z.string(), signature: z.string() });

/** What Meta's questions are called where they are counted. */
const META = 'route';

const FOR = { meta: 'what Meta asks', market: 'skills' } as const;

/** Those that this owner signed and that have not ended; who has the most left of today first. */
function standing({ places, clock }: Ground, rows: MarketRows): readonly (Allowance & { readonly left: number })[] {
  const owner = ownerOf(places.home, clock).key;
  const all = rows.allowances().flatMap(({ word }) => {
    const read = parseJson(word);
    const { data } = signedWord.safeParse(read.ok ? read.value : undefined);
    if (!data || data.by !== owner || !isSignedBy('allowance', data.said, data)) return [];
    const { said } = data;
    const signer = said.signer as Hex;
    const spent = said.for === 'meta' ? rows.paidToday(signer) : rows.spentToday(signer);
    return [{ ...said, left: said.per_day - spent }];
  });
  return all.filter(({ until }) => until > clock.now()).sort((a, b) => b.left - a.left);
}

/** As the door `market` says. */
export async function payFor(ground: Ground, required: string, purpose: string): Promise<string> {
  const settings = await settingsOf(ground);
  if (!settings.enabled) throw new TalariaError('the market is off', { code: 'market-off' });
  if (purpose !== META)
    throw new TalariaError('a golem pays for what Meta asks, and for nothing else', { code: 'no-sponsor' });
  await allowMoney(ground.places.home, settings, undefined);
  const rows = openMarketRows(ground.places.home, ground.clock);
  const whys: string[] = [];
  try {
    for (const one of standing(ground, rows).filter((each) => each.for === 'meta')) {
      const paid = await payFrom(ground, rows, one, required).catch((error: unknown) => error);
      if (typeof paid === 'string') return paid;
      whys.push(`${one.golem}: ${errorText(paid)}`);
      if (errorCode(paid) === 'chain-down') break;
    }
  } finally {
    rows.close();
  }
  const fix = 'talaria market allow GOLEM --per-day USD --until DATE --for meta';
  throw new TalariaError(whys.join('; ') || 'no golem may pay', { code: 'no-sponsor', fix });
}

/** Of one golem. Throws when it cannot. */
async function payFrom(
  ground: Ground,
  rows: MarketRows,
  { name, signer, per_day: perDay, left }: Allowance & { readonly left: number },
  required: string,
): Promise<string> {
  const key = await (await ground.door('golems')).purse(name);
  if (key === undefined) throw new TalariaError('its key is not here', { code: 'no-key' });
  const settings = await settingsOf(ground);
  const chain = await openChain(placesOf(settings), key);
  if (chain.me !== signer) throw new TalariaError('its key is another one', { code: 'no-key' });
  const most = [BigInt(Math.max(0, left)), micro(settings.limit)].reduce((a, b) => (a < b ? a : b));
  const wish = { via: 'direct', evaluator: ZERO, most, description: '' } as const;
  const { header, amount, nonce } = await signPayment(chain, key, required, wish);
  if ((await chain.balance(chain.me)) < amount) throw new TalariaError('its purse is empty', { code: 'purse-empty' });
  if (await rows.spend({ nonce, purse: chain.me, amount: Number(amount) }, perDay)) return header;
  throw new TalariaError(`of today's ${dollars(perDay)} not enough is left`, { code: 'over-allowance' });
}

/** Key of a golem that may buy skills, and what it may spend on them within a day, micro-USDC. Throws TalariaError `not-allowed`, `no-key`. */
export async function buyingPurse(
  { ground, rows }: Desk,
  name: string,
): Promise<{ readonly key: string; readonly perDay: number }> {
  const key = await (await ground.door('golems')).purse(name);
  if (key === undefined) throw new TalariaError(`${name} has no key here`, { code: 'no-key' });
  // One that bears the name of an earlier one has another key.
  const signer = await addressOf(key);
  const found = standing(ground, rows).find((one) => one.signer === signer && one.for === 'market');
  if (found === undefined)
    throw new TalariaError(`${name} may not pay for skills`, {
      ...{ code: 'not-allowed', fix: `talaria market allow ${name} --per-day USD --until DATE --for market` },
    });
  return { key, perDay: found.per_day };
}

const input = z.object({
  golem: z.string().optional().describe('Which one; without it those that may are listed'),
  'per-day': z.coerce.number().min(0).max(1_000).optional().describe('Dollars that it may pay within a day; 0 ends it'),
  until: z.iso.date().optional().describe('Last day, as 2027-01-31'),
  for: z.enum(['meta', 'market']).default('meta').describe('meta: what Meta asks; market: skills'),
});

export function allowCommand(ground: Ground): spec.AnyCommand {
  const about = { summary: 'Let a golem pay for what Meta asks, or for skills', input, positional: ['golem'] };
  const words = 'allow ada --per-day 0.20 --until 2027-01-31 --for meta';
  return marketCommand(ground, words, about, async function* (desk, { golem, 'per-day': perDay, until, for: what }) {
    if (golem === undefined) return yield* listed(desk);
    if (perDay === undefined) return yield spec.wrongUse('how-much', 'How much a day? Say --per-day, in dollars.');
    const found = await golemCalled(ground, golem);
    if (found === undefined)
      return yield spec.failed('no-such-golem', `No golem ${golem} lives here.`, 'talaria golem list shows them.');
    if (perDay === 0) {
      await desk.rows.allow(`${found.golem} ${what}`, undefined);
      yield spec.line(`${found.golem} pays for ${FOR[what]} no more.`);
      return yield told({ golem: found.golem, per_day: 0 });
    }
    const end = parseTime(`${until}T23:59:59Z`) ?? 0;
    if (end <= ground.clock.now())
      return yield spec.wrongUse('until-when', 'Until when? Say --until, a day that has not passed, as 2027-01-31.');
    const said: Allowance = { ...found, per_day: Number(micro(perDay)), until: end, for: what };
    const signed = ownerOf(ground.places.home, ground.clock).sign('allowance', said);
    await desk.rows.allow(`${found.golem} ${what}`, JSON.stringify({ said, ...signed }));
    yield* listed(desk);
  });
}

async function golemCalled(
  ground: Ground,
  called: string,
): Promise<Pick<Allowance, 'golem' | 'name' | 'signer'> | undefined> {
  const golems = await doorOf(ground, 'golems');
  const found = (await golems?.states())?.find((one) => called === one.name && one.status !== 'dead');
  return found && { golem: found.golem, name: found.name, signer: found.signer };
}

function* listed({ ground, rows }: Desk): Generator<spec.CommandOutput> {
  const all = standing(ground, rows);
  if (all.length === 0) yield spec.line('No golem may pay for anything.');
  for (const { golem, per_day: perDay, left, until, signer, for: what } of all)
    yield spec.line(
      `${golem} may pay ${dollars(perDay)} a day for ${FOR[what]}, until ${isoTime(until).slice(0, 10)}; ${dollars(Math.max(0, left))} is left today. Its purse: ${signer}`,
    );
  yield told(all);
}

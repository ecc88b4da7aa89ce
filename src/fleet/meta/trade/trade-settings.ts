// Owns what the owner sets of the market, its two keys, `market/seller.key` (what he is paid with and pays from) and `market/box.key` (what keys of
// sold content are sealed to), both 0600 and in no backup, and his word that money may be real. Knows no listing. Invariants: a key is made once,
// at its first use, whoever comes first; where money is real nothing is opened before he typed that he knows it.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { appendFileSync, linkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { addressOf, type Hex, newKey } from '#base/ethereum.ts';
import { randomHex } from '#base/ids.ts';
import { privateFolder, readIfThere } from '#base/platform.ts';
import type { CommandContext } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { ChainPlaces } from '#fleet/market/chain.ts';
import { newBox } from '#fleet/market/seal.ts';

export const ADDRESS = /^0x[0-9a-f]{40}$/i;
const address = z
  .union([z.literal(''), z.string().regex(ADDRESS, 'must be 0x and 40 of 0-9 a-f, in quotes')])
  .default('');
const usd = (value: number) => z.number().min(0).max(1_000_000).default(value);
const PLACES = ['token', 'escrow', 'factory', 'forwarder'] as const;

/** Section `market` of config.yaml. */
export const marketSettings = z.object({
  enabled: z.boolean().default(false).describe('Selling and buying at all'),
  rpc: z.string().default('http://127.0.0.1:8545').describe('Address at which the chain answers'),
  chain_id: z.int().min(1).default(31_337).describe('31337: a chain of your own; 84532: Base Sepolia; 8453: Base'),
  token: address.describe('USDC there'),
  escrow: address.describe('Holds the money until it is decided; `talaria market deploy` prints it'),
  factory: address.describe('Makes the contract that parts the price of a listing; printed with it'),
  forwarder: address.describe('Lets a shop pay the gas of a buyer; printed with it'),
  allow_real_money: z.boolean().default(false).describe('A chain whose money is worth something'),
  shops: z.array(z.string()).default([]).describe('Addresses that `market list` and `market buy` look at'),
  direct_limit: usd(1).describe('Dollars: up to so much is paid at once, what is dearer by escrow'),
  limit: usd(2).describe('Dollars that one payment may cost'),
  per_day: usd(2).describe('Dollars that all purchases of a day may cost'),
  styx_address: address.describe('Gets 5 % of what you sell; empty: you'),
  gas_address: address.describe('Gets 2 % of what you sell; empty: you'),
  agent: z
    .object({
      address: address.describe('Of him, on the chain'),
      key: z
        .union([z.literal(''), z.string().regex(/^[0-9a-f]{64}$/)])
        .default('')
        .describe('Of his box: keys of what you sell are sealed to it'),
    })
    .prefault({})
    .describe('Who delivers what you sell when you are away, as his `talaria market agent` prints it; empty: nobody'),
});

export type MarketSettings = z.output<typeof marketSettings>;

export async function settingsOf(ground: Pick<Ground, 'settings'>): Promise<MarketSettings> {
  return (await ground.settings()).section('market', marketSettings);
}

/** Of dollars. */
export function micro(dollars: number): bigint {
  return BigInt(Math.round(dollars * 1_000_000));
}

export function missingPlaces(settings: MarketSettings): readonly string[] {
  return PLACES.filter((name) => settings[name] === '').map((name) => `market.${name}`);
}

/** Throws TalariaError `not-configured`. */
export function placesOf(settings: MarketSettings): ChainPlaces {
  const missing = missingPlaces(settings);
  if (missing.length > 0)
    throw new TalariaError(`config.yaml does not say ${missing.join(', ')}`, {
      code: 'not-configured',
      fix: 'Set them to those of the market that you trade on, or make one: talaria market deploy --token ADDRESS',
    });
  if (!/^https?:$/.test(URL.parse(settings.rpc)?.protocol ?? ''))
    throw new TalariaError(`market.rpc is ${settings.rpc || 'empty'}, which is no address`, {
      ...{ code: 'not-configured', fix: 'Set it as http://127.0.0.1:8545 or https://…' },
    });
  const { rpc, chain_id: chainId, token, escrow, factory, forwarder } = settings;
  const lower = (text: string) => text.toLowerCase() as Hex;
  return {
    ...{ rpc, chainId, token: lower(token), escrow: lower(escrow) },
    ...{ factory: lower(factory), forwarder: lower(forwarder) },
  };
}

function folderOf(home: string): string {
  return join(home, 'market');
}

/** Text of a key file, made when there is none: whole or not at all; one that another process made meanwhile stands. */
function keyIn(home: string, name: string, fresh: () => string): string {
  const path = join(folderOf(home), name);
  const there = readIfThere(path);
  if (there !== undefined) return there.trim();
  privateFolder(dirname(path));
  const aside = `${path}.${process.pid}.${randomHex(4)}.fresh`;
  atomicWrite(aside, `${fresh()}\n`);
  try {
    linkSync(aside, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return (readIfThere(path) ?? '').trim();
}

/** 64 hex characters; made when there is none. */
export function sellerKey(home: string): string {
  return keyIn(home, 'seller.key', newKey);
}

/** Undefined: there is no key yet, and none is made. */
export async function addressThere(home: string): Promise<Hex | undefined> {
  const key = readIfThere(join(folderOf(home), 'seller.key'));
  return key === undefined ? undefined : addressOf(key);
}

/** What stands before the 32 bytes of an X25519 key, PKCS #8. */
const PKCS8 = '302e020100300506032b656e04220420';

/** X25519, 64 hex characters each; made when there is none. Throws TalariaError `box-key-torn`. */
export function boxOf(home: string): ReturnType<typeof newBox> {
  const privateKey = keyIn(home, 'box.key', () => newBox().privateKey);
  if (!/^[0-9a-f]{64}$/.test(privateKey))
    throw new TalariaError(`${join(folderOf(home), 'box.key')} is no key`, {
      code: 'box-key-torn',
      fix: 'Put it back from a copy: what was sealed to it opens with no other.',
    });
  const key = createPrivateKey({ key: Buffer.from(PKCS8 + privateKey, 'hex'), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return { publicKey: Buffer.from(x, 'base64url').toString('hex'), privateKey };
}

/** A chain of one's own, and Base Sepolia. */
const PLAY_MONEY = [31_337, 84_532];
const SENTENCE = 'I know that this is real money';

/** Throws TalariaError `real-money`. */
export async function allowMoney(
  home: string,
  { chain_id: chain, allow_real_money: isAllowed }: MarketSettings,
  ask: CommandContext['ask'],
): Promise<void> {
  if (PLAY_MONEY.includes(chain)) return;
  const path = join(folderOf(home), 'real-money.txt');
  const typed = (readIfThere(path) ?? '').split('\n').includes(String(chain));
  if (isAllowed && typed) return;
  const refuse = (fix: string) => new TalariaError(`on chain ${chain} money is real`, { code: 'real-money', fix });
  if (!isAllowed) throw refuse('If you want that, set market.allow_real_money: true in config.yaml.');
  if (ask === undefined) throw refuse(`Type it once at a terminal: you are asked to say "${SENTENCE}".`);
  if ((await ask(`On chain ${chain} money is real. To go on, type: ${SENTENCE}`)).trim() !== SENTENCE)
    throw refuse('Nothing was opened.');
  privateFolder(folderOf(home));
  appendFileSync(path, `${chain}\n`, { mode: 0o600 });
}

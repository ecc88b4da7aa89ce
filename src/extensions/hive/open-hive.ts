// Owns composing the peer layer for one account: settings, transport, suggestions, provider (seed 004, the four layers). The only file that sees
// them all. Invariants: nothing is opened before a peer is asked for; encryption is loaded only where it is switched on.

import { join } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import type { MemoryProvider } from '#core/agent/memory-provider.ts';
import type { Ground } from '#core/agent/room.ts';
import type { MachineCryptoOptions } from './crypto/machine-crypto.ts';
import type { RoomCrypto } from './crypto/room-crypto.ts';
import { createFetchHttp } from './matrix/matrix-http.ts';
import { createMatrixTransport } from './matrix/matrix-transport.ts';
import { PeerError, type PeerTransport } from './peer.ts';
import { createHivemindProvider } from './provider/hivemind-provider.ts';
import { createSparkEngine } from './provider/spark-engine.ts';
import { hostInfer } from './provider/spark-questions.ts';
import {
  type AccountRefusal,
  type HiveAccount,
  type HiveConfig,
  hiveSchema,
  readAccount,
  SIGN_IN,
} from './settings.ts';

export interface OpenedPeers {
  /** Close it. */
  readonly transport: PeerTransport;
  readonly account: HiveAccount;
  readonly config: HiveConfig;
}

/** One sentence for the owner. */
export type Warn = (problem: string) => void;

/** For one command. Asks nobody yet. */
export async function openPeers(ground: Ground, warn: Warn): Promise<Result<OpenedPeers, AccountRefusal>> {
  const settings = await ground.settings();
  const account = readAccount(settings);
  if (!account.ok) return account;
  const config = settings.section('peers', hiveSchema);
  const transport = await openTransport(ground, account.value, config, warn);
  return ok({ account: account.value, config, transport });
}

/** What `memory.provider: hivemind` names: an instance of its own for each agent, with its own account (R4.13). */
export async function hivemindProvider(ground: Ground): Promise<MemoryProvider> {
  const settings = await ground.settings();
  const account = readAccount(settings);
  const config = settings.section('peers', hiveSchema);
  const { clock } = ground;
  const warn = (problem: string) => ground.notice?.(problem);
  const open = async () => {
    if (account.ok) return openTransport(ground, account.value, config, warn);
    throw new PeerError(account.detail, { code: 'peers-not-configured', fix: SIGN_IN });
  };
  const engine = createSparkEngine({ infer: hostInfer(() => ground.open(), { clock }), clock, warn });
  return createHivemindProvider({
    open,
    clock,
    warn,
    available: () => (account.ok ? ok(true) : refuse(account.reason, `${account.detail}. ${SIGN_IN}`)),
    allowSend: config.allow_send,
    ...(config.suggestions ? { engine } : {}),
  });
}

async function openTransport(
  { clock, places }: Ground,
  account: HiveAccount,
  config: HiveConfig,
  warn: Warn,
): Promise<PeerTransport> {
  const http = createFetchHttp(account, clock);
  const folder = join(places.home, 'peers');
  const keys = { http, userId: account.userId, folder, clock, warn };
  const { openAccountDataCipher: cipherOf } = config.encrypt_account_data
    ? await import('./crypto/account-data-key.ts')
    : {};
  return createMatrixTransport({
    ...{ account, config, clock, http, warn },
    ...(cipherOf ? { cipher: cipherOf(folder, warn) } : {}),
    ...(config.e2ee ? { crypto: () => openCrypto(keys) } : {}),
  });
}

type Keys = Omit<MachineCryptoOptions, 'deviceId'>;

async function openCrypto(keys: Keys): Promise<RoomCrypto> {
  const { signal } = new AbortController();
  const deviceId = await ownDevice(keys, signal);
  const { openMachineCrypto } = await import('./crypto/machine-crypto.ts');
  return openMachineCrypto({ ...keys, deviceId }, signal);
}

/** Keys belong to a device, and only the server knows which one a token is for. */
async function ownDevice({ http, userId }: Pick<Keys, 'http' | 'userId'>, signal: AbortSignal): Promise<string> {
  const { user_id: owner, device_id: device } = await http(
    { method: 'GET', path: ['v3', 'account', 'whoami'] },
    signal,
  );
  if (owner !== userId)
    throw new PeerError(`MATRIX_ACCESS_TOKEN is not of ${userId}`, { code: 'peers-auth', fix: SIGN_IN });
  if (typeof device === 'string' && device !== '') return device;
  throw new PeerError('the access token belongs to no device, so nothing can be encrypted', {
    code: 'peers-encryption',
    fix: `${SIGN_IN}, or \`talaria config set peers.e2ee false\``,
  });
}

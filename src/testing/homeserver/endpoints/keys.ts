// Owns the endpoints of end-to-end keys: identity keys, one-time keys claimed once, fallback keys, cross-signing. Knows no cryptography.
// Invariant: a one-time key is handed out once; the same id with other bytes is refused.
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Account, Device } from '../store/account.ts';
import { readStreamToken } from '../store/stream-token.ts';
import { sharesRoom } from '../sync/device-changes.ts';
import type { Answer, Route, SignedCall } from '../wire/call.ts';
import { badRequest, notFound } from '../wire/matrix-failure.ts';
import { objectField } from './fields.ts';
import { askPassword } from './sign-in.ts';

export const keyRoutes: readonly Route[] = [
  { method: 'POST', path: 'keys/upload', signed: upload },
  { method: 'POST', path: 'keys/query', signed: query },
  { method: 'POST', path: 'keys/claim', signed: claim },
  { method: 'GET', path: 'keys/changes', signed: changes },
  { method: 'POST', path: 'keys/device_signing/upload', signed: uploadCrossSigning },
  { method: 'POST', path: 'keys/signatures/upload', signed: uploadSignatures },
  {
    method: 'GET',
    path: 'room_keys/version',
    signed: () => {
      throw notFound('No backup found');
    },
  },
];

function upload({ world, account, device, body }: SignedCall): JsonObject {
  const oneTime = objectField(body, 'one_time_keys');
  for (const [id, key] of Object.entries(oneTime)) checkNew(device, id, key);
  if (isJsonObject(body.device_keys) && storeIdentity(device, body.device_keys)) world.noteDevices(account);
  for (const [id, key] of Object.entries(oneTime)) if (key !== undefined) device.oneTimeKeys.set(id, key);
  for (const [id, key] of Object.entries(objectField(body, 'fallback_keys'))) {
    if (key !== undefined) device.fallbackKeys.set(algorithmOf(id), { id, key, used: false });
  }
  world.wake();
  const counts: Record<string, number> = { signed_curve25519: 0 };
  for (const id of device.oneTimeKeys.keys()) counts[algorithmOf(id)] = (counts[algorithmOf(id)] ?? 0) + 1;
  return { one_time_key_counts: counts };
}

function checkNew(device: Device, id: string, key: JsonValue | undefined): void {
  if (!/^[^:]+:.+$/.test(id)) throw badRequest('M_BAD_JSON', `Invalid one_time_keys key '${id}'`);
  const known = device.oneTimeKeys.get(id);
  if (known === undefined || canonicalJson(known) === canonicalJson(key)) return;
  throw badRequest(
    'M_UNKNOWN',
    `One time key ${id} already exists. Old key: ${canonicalJson(known)}; new key: ${canonicalJson(key)}`,
  );
}

/** True: they are other ones than before. */
function storeIdentity(device: Device, keys: JsonObject): boolean {
  const own: JsonObject = { user_id: device.userId, device_id: device.id };
  for (const field of ['user_id', 'device_id']) {
    if (keys[field] === own[field]) continue;
    throw badRequest(
      'M_BAD_JSON',
      `Provided \`${field}\` in \`device_keys\` does not match that of the authenticated device`,
    );
  }
  const isNew = canonicalJson(device.keys) !== canonicalJson(keys);
  device.keys = keys;
  return isNew;
}

function query({ world, account, body }: SignedCall): JsonObject {
  if (body.device_keys === undefined) throw badRequest('M_BAD_JSON', "'device_keys' must be a JSON object");
  const wanted = Object.entries(objectField(body, 'device_keys'));
  const found = wanted.flatMap(([id, devices]) => {
    const other = world.accounts.get(id);
    if (!Array.isArray(devices)) throw badRequest('M_BAD_JSON', "'device_keys' values must be a list of strings");
    return other ? [{ other, devices }] : [];
  });
  const nobody = wanted.filter(([id]) => world.isLocal(id) && !world.accounts.has(id)).map(([id]) => [id, {}] as const);
  const signing = (usage: string, whose: (other: Account) => boolean = () => true) =>
    Object.fromEntries(
      found.flatMap(({ other }) => {
        const key = whose(other) ? other.crossSigning.get(usage) : undefined;
        return key ? [[other.userId, key]] : [];
      }),
    );
  return {
    device_keys: Object.fromEntries([
      ...nobody,
      ...found.map(({ other, devices }) => [other.userId, identities(other, devices)] as const),
    ]),
    failures: {},
    master_keys: signing('master'),
    self_signing_keys: signing('self_signing'),
    user_signing_keys: signing('user_signing', (other) => other === account),
  };
}

function identities(account: Account, wanted: readonly JsonValue[]): JsonObject {
  const shown = [...account.devices.values()].filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  return Object.fromEntries(
    shown.flatMap(({ id, keys, displayName }) =>
      keys ? [[id, { ...keys, unsigned: displayName === undefined ? {} : { device_display_name: displayName } }]] : [],
    ),
  );
}

function claim({ world, body }: SignedCall): JsonObject {
  const answer: Record<string, Record<string, JsonObject>> = {};
  for (const [userId, devices] of Object.entries(objectField(body, 'one_time_keys'))) {
    if (!isJsonObject(devices)) continue;
    for (const [deviceId, algorithm] of Object.entries(devices)) {
      const device = world.accounts.get(userId)?.devices.get(deviceId);
      const key = device && take(device, String(algorithm));
      if (!key) continue;
      answer[userId] ??= {};
      answer[userId][deviceId] = key;
    }
  }
  world.wake();
  return { one_time_keys: answer, failures: {} };
}

function take(device: Device, algorithm: string): JsonObject | undefined {
  for (const [id, key] of device.oneTimeKeys) {
    if (algorithmOf(id) !== algorithm) continue;
    device.oneTimeKeys.delete(id);
    return { [id]: key };
  }
  const fallback = device.fallbackKeys.get(algorithm);
  if (!fallback) return undefined;
  fallback.used = true;
  return { [fallback.id]: fallback.key };
}

function changes({ world, account, query }: SignedCall): JsonObject {
  const from = readStreamToken(query.from ?? '');
  const to = query.to === undefined ? world.position : readStreamToken(query.to);
  const changed = [...world.accounts.values()].filter(
    (one) =>
      one.devicesChanged > from && one.devicesChanged <= to && (one === account || sharesRoom(account, one.userId)),
  );
  return { changed: changed.map(({ userId }) => userId), left: [] };
}

const USAGES = ['master', 'self_signing', 'user_signing'];

function uploadCrossSigning(call: SignedCall): Answer | JsonObject {
  const { world, account, body } = call;
  // As in Synapse: the first keys need no password, other ones do.
  const replaces = USAGES.some((usage) => isChanged(account, usage, body[`${usage}_key`]));
  const asked = replaces ? askPassword(call) : undefined;
  if (asked) return asked;
  for (const usage of USAGES) {
    const key = body[`${usage}_key`];
    if (isJsonObject(key)) account.crossSigning.set(usage, key);
  }
  world.noteDevices(account);
  return {};
}

function isChanged(account: Account, usage: string, key: JsonValue | undefined): boolean {
  const known = account.crossSigning.get(usage);
  return known !== undefined && key !== undefined && canonicalJson(known) !== canonicalJson(key);
}

function uploadSignatures({ world, account, body }: SignedCall): JsonObject {
  for (const [userId, signed] of Object.entries(body)) {
    const owner = world.accounts.get(userId);
    if (owner && isJsonObject(signed)) signEach(owner, signed);
  }
  world.noteDevices(account);
  return { failures: {} };
}

function signEach(owner: Account, signed: JsonObject): void {
  for (const [id, object] of Object.entries(signed)) {
    if (!isJsonObject(object)) continue;
    const device = owner.devices.get(id);
    if (device?.keys) device.keys = withSignatures(device.keys, object);
    for (const [usage, key] of owner.crossSigning) {
      if (holdsKey(key, id)) owner.crossSigning.set(usage, withSignatures(key, object));
    }
  }
}

function holdsKey({ keys }: JsonObject, id: string): boolean {
  return isJsonObject(keys) && Object.values(keys).includes(id);
}

function withSignatures(target: JsonObject, more: JsonObject): JsonObject {
  const known = isJsonObject(target.signatures) ? target.signatures : {};
  const added = Object.entries(isJsonObject(more.signatures) ? more.signatures : {}).map(([signer, signatures]) => {
    const before = known[signer];
    return [signer, { ...(isJsonObject(before) && before), ...(isJsonObject(signatures) && signatures) }] as const;
  });
  return { ...target, signatures: { ...known, ...Object.fromEntries(added) } };
}

function algorithmOf(id: string): string {
  return id.split(':')[0] ?? id;
}

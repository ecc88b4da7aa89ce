// Owns how the machine's requests reach the server and the answers come back to it. Knows no room. Invariant: a request that carries keys
// or messages leaves only after all that it rests on is stored; a request without an answer stays with the machine and is sent again.
import {
  KeysClaimRequest,
  KeysQueryRequest,
  KeysUploadRequest,
  type OlmMachine,
  RequestType,
  ToDeviceRequest,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { PeerError } from '../../../peers/peer-error.ts';
import { withoutDeep } from '../foreign/json-depth.ts';
import type { KeyBatch } from './key-batch.ts';
import { burnOldKeys, changeRoomKeys } from './own-keys.ts';
import { admitReplacedDevices } from './replaced-devices.ts';

/** An answer to one request can make another: a claimed key makes a message, a query a claim. */
const ROUNDS = 4;

type OutgoingRequest = Awaited<ReturnType<OlmMachine['outgoingRequests']>>[number];

/** Sends all that the machine has to say, and opens sessions again that were found broken. */
export async function sendOutgoing(batch: KeyBatch): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const requests = await batch.olm.outgoingRequests();
    for (const request of requests) await sendRequest(batch, request);
    const claim = await batch.olm.getMissingSessions([]);
    if (claim != null) await sendRequest(batch, claim);
    if (requests.length === 0 && claim == null) return;
  }
}

/** Asks for device lists that may have changed, and for nothing else. */
export async function sendQueries(batch: KeyBatch): Promise<void> {
  for (const request of await batch.olm.outgoingRequests()) {
    if (request instanceof KeysQueryRequest) await sendRequest(batch, request);
  }
}

export async function sendRequest(batch: KeyBatch, request: OutgoingRequest | KeysClaimRequest): Promise<void> {
  if (request instanceof KeysUploadRequest) return uploadKeys(batch, request);
  if (request instanceof ToDeviceRequest) return sendToDevices(batch, request);
  const { olm, http, signal } = batch;
  if (request instanceof KeysQueryRequest) {
    const answer = withoutDeep(await http(post(['keys', 'query'], request.body), signal));
    batch.prepared.clear();
    await admitReplacedDevices(batch, answer);
    await olm.markRequestAsSent(request.id, RequestType.KeysQuery, JSON.stringify(answer));
  } else if (request instanceof KeysClaimRequest) {
    const answer = withoutDeep(await http(post(['keys', 'claim'], request.body), signal));
    await olm.markRequestAsSent(request.id, RequestType.KeysClaim, JSON.stringify(answer));
  }
}

async function sendToDevices({ olm, http, store, signal }: KeyBatch, request: ToDeviceRequest): Promise<void> {
  await store();
  const path = ['v3', 'sendToDevice', request.event_type, request.txn_id];
  const answer = await http({ method: 'PUT', path, body: bodyOf(request.body) }, signal);
  await olm.markRequestAsSent(request.id, RequestType.ToDevice, JSON.stringify(answer));
}

async function uploadKeys(batch: KeyBatch, request: KeysUploadRequest): Promise<void> {
  await batch.store();
  const answer = await uploadOrReplace(batch, request);
  if (answer === undefined) return;
  await batch.olm.markRequestAsSent(request.id, RequestType.KeysUpload, JSON.stringify(answer));
}

/** A server that knows other keys under our names has keys of an identity, or of a time, that this store does not hold: they must go. */
async function uploadOrReplace(batch: KeyBatch, { body }: KeysUploadRequest): Promise<JsonObject | undefined> {
  const upload = () => batch.http(post(['keys', 'upload'], body), batch.signal);
  try {
    return await upload();
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  batch.warn(
    'The server keeps newer keys of this device than we do: they are replaced, and keys that came since then are asked for again.',
  );
  await burnOldKeys(batch);
  await changeRoomKeys(batch);
  batch.later(() => batch.file.setFact('settled', 'no'));
  await batch.store();
  try {
    return await upload();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    batch.warn(
      `The server does not take the keys of this device (${error.message}); sign in again: \`talaria peers login\`.`,
    );
    return undefined;
  }
}

function isRefusal(error: unknown): error is PeerError {
  return error instanceof PeerError && error.status === 400;
}

function post(path: readonly string[], body: string) {
  return { method: 'POST', path: ['v3', ...path], body: bodyOf(body), repeatable: true } as const;
}

function bodyOf(text: string): JsonObject {
  const parsed = parseJsonObject(text);
  if (!parsed.ok) throw new PeerError('the encryption made a request that is no JSON', { code: 'peers-encryption' });
  return parsed.value;
}

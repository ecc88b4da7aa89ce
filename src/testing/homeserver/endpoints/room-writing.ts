// Owns the endpoints that put events into a room: messages, state, redactions; each transaction of a device takes effect once.
import type { JsonObject } from '#base/json.ts';
import { appendEvent } from '../rooms/append-event.ts';
import type { Room } from '../store/room.ts';
import { once, type Route, type SignedCall } from '../wire/call.ts';
import { badRequest, forbidden } from '../wire/matrix-failure.ts';
import { knownRoom } from './known-room.ts';

export const roomWritingRoutes: readonly Route[] = [
  { method: 'PUT', path: 'rooms/:room/send/:type/:txn', signed: send },
  { method: 'PUT', path: 'rooms/:room/state/:type', signed: putState },
  { method: 'PUT', path: 'rooms/:room/state/:type/:key', signed: putState },
  { method: 'PUT', path: 'rooms/:room/redact/:event/:txn', signed: redact },
  { method: 'PUT', path: 'rooms/:room/typing/:user', signed: () => ({}) },
  { method: 'POST', path: 'rooms/:room/receipt/:type/:event', emptyBody: true, signed: () => ({}) },
  { method: 'POST', path: 'rooms/:room/read_markers', signed: () => ({}) },
];

function send(call: SignedCall): JsonObject {
  const { type = '', txn = '' } = call.path;
  return once(call, `send ${call.path.room} ${type} ${txn}`, () => add(call, { type, transactionId: txn }));
}

function putState(call: SignedCall): JsonObject {
  const { type = '', key = '' } = call.path;
  if (type === 'm.room.member' && !['join', 'invite', 'leave', 'ban'].includes(String(call.body.membership))) {
    throw badRequest('M_BAD_JSON', 'A membership is needed');
  }
  return add(call, { type, stateKey: key });
}

function redact(call: SignedCall): JsonObject {
  const { event = '', txn = '' } = call.path;
  const wanted = { type: 'm.room.redaction', transactionId: txn, redacts: event };
  return once(call, `redact ${call.path.room} ${event} ${txn}`, () => add(call, wanted));
}

interface Wanted {
  readonly type: string;
  readonly stateKey?: string;
  readonly transactionId?: string;
  readonly redacts?: string;
}

function add(call: SignedCall, { type, stateKey, transactionId, redacts }: Wanted): JsonObject {
  const room: Room = knownRoom(call, () => forbidden(`User ${call.account.userId} not in room ${call.path.room}`));
  const stored = appendEvent(call.world, room, {
    type,
    sender: call.account.userId,
    content: call.body,
    stateKey,
    redacts,
    ...(transactionId !== undefined && { sent: { deviceId: call.device.id, transactionId } }),
  });
  return { event_id: stored.event.event_id };
}

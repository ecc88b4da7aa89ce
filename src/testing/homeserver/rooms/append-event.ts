// Owns turning a request for an event into an event: permission, size, ids, what it replaces, redaction. Knows no HTTP.
// Invariant: nothing is in the timeline that the rules of the room refuse, except through `appendUnchecked` (doors of tests).
import { createHash, randomBytes } from 'node:crypto';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { serverOf } from '../store/account.ts';
import type { Room } from '../store/room.ts';
import { type RoomEvent, type StoredEvent, stateName } from '../store/room-event.ts';
import type { World } from '../store/world.ts';
import { badRequest, forbidden, MatrixFailure, notFound } from '../wire/matrix-failure.ts';
import { checkMembership } from './membership-rules.ts';
import { levelToSend, powerOf } from './power.ts';
import { withoutContent } from './redaction.ts';

export interface NewEvent {
  readonly type: string;
  readonly sender: string;
  readonly content: JsonObject;
  readonly stateKey?: string | undefined;
  readonly redacts?: string | undefined;
  /** Epoch ms; default now. */
  readonly at?: number | undefined;
  readonly sent?: StoredEvent['sent'];
}

const MAX_EVENT_BYTES = 65_536;
/** What hashes, signatures and references add to an event between servers; they count too. */
const ENVELOPE_BYTES = 700;
const MAX_NAME_BYTES = 255;

/** @throws MatrixFailure 403 M_FORBIDDEN, 413 M_TOO_LARGE, 400 */
export function appendEvent(world: World, room: Room, draft: NewEvent): StoredEvent {
  checkAllowed(room, draft);
  checkForm(draft);
  const same = sameState(room, draft);
  return same ?? appendUnchecked(world, room, draft);
}

export function appendUnchecked(world: World, room: Room, draft: NewEvent): StoredEvent {
  const { type, sender, content, stateKey, redacts, at, sent } = draft;
  const replaced = stateKey === undefined ? undefined : room.stateEvent(type, stateKey);
  const inContent = redacts !== undefined && room.version >= 11;
  const event: RoomEvent = {
    type,
    sender,
    content: inContent ? { ...content, redacts } : content,
    event_id: newEventId(room.version, sender),
    origin_server_ts: at ?? world.settings.clock.now(),
    ...(stateKey !== undefined && { state_key: stateKey }),
    ...(redacts !== undefined && { redacts }),
    ...(replaced && { unsigned: replacing(replaced) }),
  };
  const stored = world.append(room, event, sent);
  if (redacts !== undefined) redactStored(room, redacts, event);
  return stored;
}

function replacing(replaced: RoomEvent): JsonObject {
  return { replaces_state: replaced.event_id, prev_content: replaced.content, prev_sender: replaced.sender };
}

/** `$` and a hash; in the first two versions a local name with its server. */
export function newEventId(version: number, sender: string): string {
  if (version < 3) return `$${randomBytes(12).toString('hex')}:${serverOf(sender)}`;
  return `$${createHash('sha256').update(randomBytes(16)).digest('base64url')}`;
}

function checkAllowed(room: Room, { type, sender, content, stateKey, redacts }: NewEvent): void {
  if (type === 'm.room.member' && stateKey !== undefined) {
    checkMembership(room, { sender, target: stateKey, membership: String(content.membership) });
    return;
  }
  if (room.membership(sender) !== 'join') throw forbidden(`User ${sender} not in room ${room.id}`);
  if (type === 'm.room.create') throw forbidden('The create event of a room cannot be changed');
  const power = powerOf(room, sender);
  const needed = levelToSend(room, type, stateKey !== undefined);
  if (power < needed) {
    throw forbidden(
      `You don't have permission to post that to the room. user_level (${power}) < send_level (${needed})`,
    );
  }
  if (stateKey?.startsWith('@') && stateKey !== sender) throw forbidden('You are not allowed to set others state');
  if (redacts !== undefined) checkRedaction(room, sender, redacts);
}

function checkRedaction(room: Room, sender: string, eventId: string): void {
  const target = room.find(eventId);
  if (!target) throw notFound(`Could not find event ${eventId}`);
  if (target.event.sender !== sender && powerOf(room, sender) < 50) {
    throw forbidden("You don't have permission to redact events");
  }
}

/** What is there already is not put there again. */
function sameState(room: Room, { type, sender, content, stateKey }: NewEvent): StoredEvent | undefined {
  const known = stateKey === undefined ? undefined : room.state.get(stateName(type, stateKey));
  const same = known?.event.sender === sender && canonicalJson(known.event.content) === canonicalJson(content);
  return same ? known : undefined;
}

const NEEDED_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'm.room.message': ['body', 'msgtype'],
  'm.room.name': ['name'],
  'm.room.topic': ['topic'],
};

function checkForm({ type, content, stateKey = '' }: NewEvent): void {
  for (const field of NEEDED_TEXTS[type] ?? []) {
    if (!Object.hasOwn(content, field)) throw badRequest('M_UNKNOWN', `'${field}' not in content`);
    if (typeof content[field] !== 'string') throw badRequest('M_UNKNOWN', `'${field}' not a string type`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(content)) + ENVELOPE_BYTES;
  if (bytes > MAX_EVENT_BYTES) throw new MatrixFailure(413, 'M_TOO_LARGE', 'event too large');
  if (Buffer.byteLength(type) > MAX_NAME_BYTES) throw new MatrixFailure(413, 'M_TOO_LARGE', "'type' too large");
  if (Buffer.byteLength(stateKey) > MAX_NAME_BYTES)
    throw new MatrixFailure(413, 'M_TOO_LARGE', "'state_key' too large");
  if (type === '') throw badRequest('M_INVALID_PARAM', 'An event needs a type');
}

function redactStored(room: Room, eventId: string, because: RoomEvent): void {
  const target = room.find(eventId);
  if (target) target.event = withoutContent(target.event, because, room);
}

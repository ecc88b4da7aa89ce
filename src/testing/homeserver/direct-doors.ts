// Owns the doors past the protocol: tests put accounts, rooms, events and data into the fake homeserver without HTTP.

import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { HomeserverAccount, HomeserverDoors, RoomDraft } from './fake-homeserver.ts';
import { appendUnchecked } from './rooms/append-event.ts';
import { joinRoom } from './rooms/change-membership.ts';
import { clientEvent } from './rooms/client-event.ts';
import { createRoom } from './rooms/create-room.ts';
import type { Account, Device } from './store/account.ts';
import type { Room } from './store/room.ts';
import type { World } from './store/world.ts';

export function directDoors(world: World): HomeserverDoors {
  const account = (userId: string): Account => known(world.accounts.get(userId), userId);
  const room = (roomId: string): Room => known(world.rooms.get(roomId), roomId);
  const device = (userId: string, id: string): Device => known(account(userId).devices.get(id), id);
  return {
    addAccount: (local) => addAccount(world, local.startsWith('@') ? local : `@${local}:${world.settings.serverName}`),
    addRoom: (draft) => addRoom(world, draft),
    inject: (roomId, { type, content, sender, stateKey, at }) =>
      appendUnchecked(world, room(roomId), { type, content, sender, stateKey, at }).event.event_id,
    redact: (roomId, eventId, by) => {
      appendUnchecked(world, room(roomId), { type: 'm.room.redaction', content: {}, sender: by, redacts: eventId });
    },
    expireToken: (accessToken) => world.closeSession(accessToken),
    setAccountData: (userId, type, content, roomId) => world.putData(account(userId), type, content, roomId),
    accountData: (userId, type, roomId) => {
      const { data, roomData } = account(userId);
      return (roomId === undefined ? data : roomData.get(roomId))?.get(type)?.content;
    },
    state: (roomId, type, stateKey = '') => room(roomId).stateEvent(type, stateKey)?.content,
    timeline: (roomId) => room(roomId).timeline.map((stored) => clientEvent(room(roomId), stored, '')),
    takeKeys: (userId, deviceId) => {
      device(userId, deviceId).oneTimeKeys.clear();
      device(userId, deviceId).fallbackKeys.clear();
    },
    waiting: (userId, deviceId) => device(userId, deviceId).inbox.map(({ message }) => message),
  };
}

function addAccount(world: World, userId: string): HomeserverAccount {
  const password = randomHex(8);
  const { device, accessToken } = world.openSession(world.addAccount(userId, password));
  return { userId, accessToken, deviceId: device.id, password };
}

function addRoom(world: World, draft: RoomDraft): string {
  const { creator, join = [], invite = [], messages = [], encrypted, name } = draft;
  const encryption: JsonObject = { algorithm: 'm.megolm.v1.aes-sha2' };
  const room = createRoom(world, {
    creator,
    version: world.settings.roomVersion,
    preset: 'private_chat',
    invite: [...invite, ...join],
    isDirect: false,
    initialState: encrypted ? [{ type: 'm.room.encryption', stateKey: '', content: encryption }] : [],
    more: { name, creationContent: draft.creationContent ?? {} },
  });
  for (const userId of join) joinRoom(world, room, userId);
  for (const body of messages) {
    appendUnchecked(world, room, { type: 'm.room.message', sender: creator, content: { msgtype: 'm.text', body } });
  }
  return room.id;
}

function known<T>(value: T | undefined, id: string): T {
  if (value === undefined) throw new TalariaError(`the fake homeserver has no ${id}`, { code: 'homeserver-unknown' });
  return value;
}

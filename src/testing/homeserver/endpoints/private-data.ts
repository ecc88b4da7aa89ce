// Owns what belongs to one person alone: account data, global and a room's, filters; and the public profile.
import type { JsonObject } from '#base/json.ts';
import { readEventFilter } from '../rooms/event-filter.ts';
import type { Account } from '../store/account.ts';
import type { World } from '../store/world.ts';
import type { Route, SignedCall } from '../wire/call.ts';
import { badRequest, forbidden, notFound } from '../wire/matrix-failure.ts';
import { neededText, objectField } from './fields.ts';

export const privateDataRoutes: readonly Route[] = [
  { method: 'GET', path: 'user/:user/account_data/:type', signed: read },
  { method: 'PUT', path: 'user/:user/account_data/:type', signed: write },
  { method: 'GET', path: 'user/:user/rooms/:room/account_data/:type', signed: read },
  { method: 'PUT', path: 'user/:user/rooms/:room/account_data/:type', signed: write },
  { method: 'POST', path: 'user/:user/filter', signed: addFilter },
  { method: 'GET', path: 'user/:user/filter/:filter', signed: getFilter },
  { method: 'GET', path: 'profile/:user', open: ({ world, path }) => profile(known(world, path.user)) },
  { method: 'GET', path: 'profile/:user/displayname', open: ({ world, path }) => profile(known(world, path.user)) },
  { method: 'PUT', path: 'profile/:user/displayname', signed: rename },
  { method: 'PUT', path: 'presence/:user/status', signed: () => ({}) },
  { method: 'GET', path: 'pushrules', signed: () => ({ global: {} }) },
];

function read(call: SignedCall): JsonObject {
  const { account, path } = call;
  checkOwn(call, 'Cannot get account data for other users.');
  const data = path.room === undefined ? account.data : account.roomData.get(checkedRoom(path.room));
  const item = data?.get(path.type ?? '');
  if (!item) throw notFound(path.room === undefined ? 'Account data not found' : 'Room account data not found');
  return item.content;
}

function write(call: SignedCall): JsonObject {
  const { world, account, path, body } = call;
  checkOwn(call, 'Cannot add account data for other users.');
  world.putData(account, path.type ?? '', body, path.room === undefined ? undefined : checkedRoom(path.room));
  return {};
}

function checkedRoom(roomId: string): string {
  if (!/^!./.test(roomId)) throw badRequest('M_INVALID_PARAM', `${roomId} is not a valid room ID`);
  return roomId;
}

function addFilter(call: SignedCall): JsonObject {
  checkOwn(call, 'Cannot create filters for other users');
  const room = objectField(call.body, 'room');
  for (const part of ['timeline', 'state', 'account_data']) readEventFilter(room[part]);
  call.account.filters.push(call.body);
  return { filter_id: String(call.account.filters.length - 1) };
}

function getFilter(call: SignedCall): JsonObject {
  checkOwn(call, 'Cannot get filters for other users');
  const filter = call.account.filters[Number(call.path.filter)];
  if (!filter) throw notFound('No such filter');
  return filter;
}

function rename(call: SignedCall): JsonObject {
  checkOwn(call, "Cannot set another user's displayname");
  call.account.displayName = neededText(call.body, 'displayname');
  return {};
}

function profile({ displayName }: Account): JsonObject {
  return displayName === undefined ? {} : { displayname: displayName };
}

function known(world: World, userId = ''): Account {
  const account = world.accounts.get(userId);
  if (!account) throw notFound('Profile was not found');
  return account;
}

function checkOwn({ account, path }: SignedCall, message: string): void {
  if (path.user !== account.userId) throw forbidden(message);
}

// Owns messages from device to device: kept for each device until it has acknowledged them.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Account, Device } from '../store/account.ts';
import { once, type Route, type SignedCall } from '../wire/call.ts';
import { badRequest } from '../wire/matrix-failure.ts';
import { objectField } from './fields.ts';

export const toDeviceRoutes: readonly Route[] = [
  { method: 'PUT', path: 'sendToDevice/:type/:txn', signed: (call) => once(call, keyOf(call), () => deliver(call)) },
];

function keyOf({ path }: SignedCall): string {
  return `toDevice ${path.type} ${path.txn}`;
}

function deliver(call: SignedCall): JsonObject {
  const { world, account, path, body } = call;
  if (body.messages === undefined) throw badRequest('M_MISSING_PARAM', "Missing params: ['messages']");
  const position = world.advance();
  for (const [userId, devices] of Object.entries(objectField(body, 'messages'))) {
    const receiver = world.accounts.get(userId);
    if (!receiver || !isJsonObject(devices)) continue;
    for (const [deviceId, content] of Object.entries(devices)) {
      const message = { type: path.type ?? '', sender: account.userId, content: content ?? {} };
      for (const device of meant(receiver, deviceId)) device.inbox.push({ position, message });
    }
  }
  world.wake();
  return {};
}

function meant(receiver: Account, deviceId: string): readonly Device[] {
  if (deviceId === '*') return [...receiver.devices.values()];
  const device = receiver.devices.get(deviceId);
  return device ? [device] : [];
}

/** A RoomCrypto that encrypts for whom it is told there is, by turning letters; it writes down what it was asked. */
import type { JsonObject } from '#base/json.ts';
import { parseJsonObject } from '#base/json.ts';
import type { EncryptedRoom, KeyChanges, LateDevice, RoomCrypto } from '#extensions/hive/matrix/crypto/room-crypto.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';

export class RecordedCrypto implements RoomCrypto {
  readonly deviceId = 'DEVICE';
  readonly received: KeyChanges[] = [];
  readonly targets: (readonly string[])[] = [];
  /** By user id. */
  readonly devices = new Map<string, readonly string[]>();
  readonly reached = new Set<string>();
  readonly encrypted = new Map<string, EncryptedRoom>();
  fault: string | undefined;
  closed = 0;

  position(): undefined {
    return undefined;
  }

  async receive(changes: KeyChanges): Promise<void> {
    this.#check();
    this.received.push(changes);
    for (const room of changes.encrypted ?? []) this.encrypted.set(room.roomId, room);
  }

  encryptedRooms(): readonly EncryptedRoom[] {
    return [...this.encrypted.values()];
  }

  async encrypt(target: { readonly members: readonly string[] }, events: readonly { readonly content: JsonObject }[]) {
    this.#check();
    this.targets.push([...target.members].sort());
    return events.map(({ content }) => ({
      algorithm: 'm.megolm.v1.aes-sha2',
      ciphertext: Buffer.from(JSON.stringify(content)).toString('base64'),
    }));
  }

  async decrypt(_room: string, event: JsonObject) {
    this.#check();
    const { ciphertext } = event.content as { readonly ciphertext: string };
    const content = parseJsonObject(Buffer.from(ciphertext, 'base64').toString('utf8'));
    return content.ok ? { type: 'm.room.message', content: content.value } : undefined;
  }

  async lateDevices(target: { readonly roomId: string; readonly members: readonly string[] }) {
    this.#check();
    const all = target.members.flatMap((userId) =>
      (this.devices.get(userId) ?? []).map((deviceId) => ({ userId, deviceId })),
    );
    return all.filter((device) => !this.reached.has(`${target.roomId} ${device.deviceId}`));
  }

  async noteReached(roomId: string, devices: readonly LateDevice[]): Promise<void> {
    for (const { deviceId } of devices) this.reached.add(`${roomId} ${deviceId}`);
  }

  async close(): Promise<void> {
    this.closed += 1;
  }

  #check(): void {
    if (this.fault !== undefined) throw new PeerError(this.fault, { code: 'peers-encryption', fix: 'mend it' });
  }
}

// Owns the introduction of two peers: one room with both, and what each is told about the other (R4.41). Texts come from above.
import { throwIfAborted } from '#base/abort.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { Introduction } from '../../peers/peer-transport.ts';
import { aboutLine, whyLine } from '../events/introduction-line.ts';
import { nameOf } from '../events/user-id.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { presentEntry } from '../talk/find-entry.ts';
import type { OwnRooms } from './own-rooms.ts';

export async function introducePeers(
  ground: MatrixGround,
  { introduction, ownRooms }: { readonly introduction: Introduction; readonly ownRooms: OwnRooms },
  signal: AbortSignal,
): Promise<void> {
  throwIfAborted(signal);
  const [a, b] = [presentEntry(ground, introduction.a).userId, presentEntry(ground, introduction.b).userId];
  if (a === b)
    throw new PeerError(`${introduction.a} cannot be introduced to itself`, {
      code: 'peers-forbidden',
      forModel: 'a peer cannot be introduced to itself',
    });
  const { contextOfA, contextOfB, reason = '' } = introduction;
  const lines = [aboutLine(a, contextOfA), aboutLine(b, contextOfB), ...(reason === '' ? [] : [whyLine(reason)])];
  const key = `introduction ${[a, b].sort().join(' ')}`;
  const name = `Introduction: ${nameOf(a)} <> ${nameOf(b)}`;
  await ownRooms.carryOut({ key, name, invite: [a, b], isDirect: false, lines }, signal);
}

// Owns finding the room that a path names. To somebody outside, a room that there is not is as a room that they may not see.
import type { Room } from '../store/room.ts';
import type { SignedCall } from '../wire/call.ts';
import { forbidden, type MatrixFailure } from '../wire/matrix-failure.ts';

export function knownRoom(call: SignedCall, refusal: () => MatrixFailure = () => noPreview(call)): Room {
  const room = call.world.rooms.get(call.path.room ?? '');
  if (!room) throw refusal();
  return room;
}

function noPreview({ account, path }: SignedCall): MatrixFailure {
  return forbidden(`User ${account.userId} not in room ${path.room}, and room previews are disabled`);
}

// Owns user ids that come from a server, made anew for each call of the machine, which uses them up.
// Invariant: what is no user id is left out, so that one bad id breaks nothing.
import { UserId } from '@matrix-org/matrix-sdk-crypto-wasm';

export function userIds(ids: readonly string[]): UserId[] {
  return ids.flatMap((id) => {
    try {
      return [new UserId(id)];
    } catch {
      return []; // nobody whose devices we could know
    }
  });
}

// Owns keeping a summary with its peer (R4.22, R4.39). Invariant: what is shown is what the server took.
import { throwIfAborted } from '#base/abort.ts';
import type { PeerSummary } from '../../peers/peer.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { findEntry } from '../talk/find-entry.ts';
import { SUMMARY_KEY } from './account-data.ts';
import { writeSummary } from './stored-summary.ts';

export async function keepSummary(
  ground: MatrixGround,
  { id, summary }: { readonly id: string; readonly summary: PeerSummary },
  signal: AbortSignal,
): Promise<void> {
  throwIfAborted(signal);
  const { room } = findEntry(ground, id).rooms[0];
  await ground.data.put({ key: SUMMARY_KEY, room: room.id, value: writeSummary(summary) }, signal);
  ground.shelf.changeRoom(room.id, ({ notes, ...now }) => ({
    ...now,
    notes: { ...notes, summary, behind: notes.behind.filter((kind) => kind !== 'summary') },
  }));
}

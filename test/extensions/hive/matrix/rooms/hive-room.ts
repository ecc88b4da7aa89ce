/** Rooms as tests write them down. */
import type { Membership, RoomRecord, SeenMessage } from '#extensions/hive/matrix/rooms/room-book.ts';
import { emptyRoom } from '#extensions/hive/matrix/rooms/room-book.ts';

export const SELF = '@bob:x';

export interface RoomDraft extends Partial<Omit<RoomRecord, 'members' | 'notes'>> {
  readonly creator?: string;
  readonly isDirect?: boolean;
  readonly at?: number;
  readonly members?: Readonly<Record<string, Membership>>;
  readonly notes?: Partial<RoomRecord['notes']>;
}

export function roomOf(draft: RoomDraft): RoomRecord {
  const { creator = '@alice:x', isDirect = false, at = 1_000, members = {}, notes = {}, ...rest } = draft;
  return {
    ...emptyRoom(draft.id ?? '!r'),
    creation: { sender: creator, at, isDirect },
    members: new Map(Object.entries(members)),
    notes: { behind: [], ...notes },
    ...rest,
  };
}

export function seenOf(...list: readonly (readonly [id: string, sender: string])[]): readonly SeenMessage[] {
  return list.map(([id, sender], index) => ({ id, sender, at: 1_000 + index, isIntroduction: false }));
}

// Owns the one mutable thing of the Matrix backend: which book is the present one. Invariant: a book is put in its place whole.
import { EMPTY_BOOK, type RoomBook, type RoomRecord, withEncryptions } from './room-book.ts';

export interface BookShelf {
  book(): RoomBook;
  put(book: RoomBook): void;
  /** Puts the room in; an invitation to it is over. */
  putRoom(room: RoomRecord): void;
  /** Changes a room as it is now; nothing when it is gone meanwhile. */
  changeRoom(roomId: string, change: (room: RoomRecord) => RoomRecord): void;
}

export function createBookShelf(): BookShelf {
  let book = EMPTY_BOOK;
  const putRoom = (room: RoomRecord) => {
    const invites = new Map(book.invites);
    invites.delete(room.id);
    const encrypted = withEncryptions(book.encrypted, [room]);
    book = { ...book, invites, encrypted, rooms: new Map(book.rooms).set(room.id, room) };
  };
  return {
    book: () => book,
    put: (next) => {
      book = next;
    },
    putRoom,
    changeRoom: (roomId, change) => {
      const room = book.rooms.get(roomId);
      const changed = room === undefined ? undefined : change(room);
      if (changed !== undefined && changed !== room) putRoom(changed);
    },
  };
}

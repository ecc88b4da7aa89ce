// Owns the mark in this home that all notes on the server were sealed once, `account-data.sealed`. Knows no note. Invariant: once it is there,
// whatever comes in clear was not written by us.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorText } from '#base/errors.ts';
import type { PlainNotes } from '../account-data/account-data-cipher.ts';
import type { TellOwner } from './private-key-file.ts';

const TEXT = 'Every note of this agent on the server was sealed: what stands there in clear is not believed.\n';

export function plainNotesMark(folder: string, tell: TellOwner): PlainNotes {
  const path = join(folder, 'account-data.sealed');
  let isOver = false;
  let isTold = false;
  return {
    isOver: () => {
      isOver ||= existsSync(path);
      return isOver;
    },
    end: () => {
      if (isOver) return;
      try {
        atomicWrite(path, TEXT);
        isOver = true;
      } catch (error) {
        tell(`That all notes are sealed could not be written down yet: ${errorText(error)}`); // the next sync tries again
      }
    },
    refused: () => {
      if (isTold) return;
      isTold = true;
      tell(
        `The server keeps notes in clear that this agent did not write; they were left out. If you had peers.encrypt_account_data off for a while, remove ${path} once.`,
      );
    },
  };
}

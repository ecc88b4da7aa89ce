// Owns bytes that are kept once, by their hash: one private file each. Knows no kind of content.
// Invariant: a file holds exactly the bytes of its name, or is not there.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from './atomic-write.ts';
import { sha256 } from './ids.ts';
import { privateFolder, readBytesIfThere } from './platform.ts';

export interface Blobs {
  /** Durable when it returns; gives the SHA-256 in hex. */
  keep(bytes: Uint8Array): string;
  /** Undefined: not here, or not what its name says. */
  read(hash: string): Buffer | undefined;
  /** False: it was not here. */
  remove(hash: string): boolean;
}

const NAME = /^[0-9a-f]{64}$/;

/** `folder`: absolute; made with the first blob. */
export function openBlobs(folder: string): Blobs {
  return {
    keep(bytes) {
      const hash = sha256(bytes);
      const path = join(folder, hash);
      if (existsSync(path)) return hash;
      privateFolder(folder);
      atomicWrite(path, Buffer.from(bytes), { mode: 0o600 });
      return hash;
    },
    read(hash) {
      const bytes = NAME.test(hash) ? readBytesIfThere(join(folder, hash)) : undefined;
      return bytes && sha256(bytes) === hash ? bytes : undefined;
    },
    remove(hash) {
      const path = join(folder, hash);
      if (!NAME.test(hash) || !existsSync(path)) return false;
      rmSync(path, { force: true });
      return true;
    },
  };
}

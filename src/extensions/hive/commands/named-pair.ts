// Owns how two peers are typed. Data only.
import { z } from 'zod';

function peer(which: string) {
  return z.string(`name the ${which} peer`).min(1, `name the ${which} peer`);
}

export const namedPair = {
  peerA: peer('first').describe('Name or id of a peer'),
  peerB: peer('second').describe('Name or id of another'),
} as const;

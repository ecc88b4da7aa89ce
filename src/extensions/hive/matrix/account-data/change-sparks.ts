// Owns changing the sparks that several processes of one agent share (notes 6, B13): read the newest, merge, write, read back.
// Invariant: what another process wrote meanwhile is never lost, and nothing that was done or dismissed becomes pending again.
import { throwIfAborted } from '#base/abort.ts';
import { isJsonObject } from '#base/json.ts';
import type { Spark } from '../../peers/peer.ts';
import { PeerError } from '../../peers/peer-error.ts';
import { holdsSparks, mergeSparks } from '../../peers/sparks.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { SPARKS_KEY } from './account-data.ts';
import { NO_SPARKS, readSparks, type SparkShelf, writeSparks } from './stored-sparks.ts';

type Change = (sparks: readonly Spark[]) => readonly Spark[];

const ROUNDS = 3;

export async function changeSparks(
  ground: MatrixGround,
  change: Change,
  signal: AbortSignal,
): Promise<readonly Spark[]> {
  throwIfAborted(signal);
  let newest = await readShelf(ground, signal);
  for (let round = 0; round < ROUNDS; round += 1) {
    const known = mergeSparks(newest.sparks, ground.shelf.book().sparks.sparks);
    const wanted = mergeSparks(known, change(known));
    if (!isSame(newest.sparks, wanted) || newest.isOld) {
      await ground.data.put({ key: SPARKS_KEY, value: writeSparks({ ...newest, sparks: wanted }) }, signal);
      newest = await readShelf(ground, signal);
    }
    if (holdsSparks(newest.sparks, wanted)) return keep(ground, newest, wanted);
  }
  throw new PeerError('another process of this agent keeps changing the suggestions', {
    code: 'peers-server-error',
    retryable: true,
    fix: 'Try again when the other process is done.',
  });
}

function keep(ground: MatrixGround, newest: SparkShelf, wanted: readonly Spark[]): readonly Spark[] {
  const sparks = mergeSparks(wanted, newest.sparks);
  const book = ground.shelf.book();
  ground.shelf.put({ ...book, sparks: { sparks, foreign: newest.foreign, isBehind: false, isLocked: false } });
  return sparks;
}

async function readShelf(ground: MatrixGround, signal: AbortSignal): Promise<SparkShelf & { readonly isOld: boolean }> {
  const stored = await ground.data.get(SPARKS_KEY, undefined, signal);
  if (stored === undefined) return { ...NO_SPARKS, isOld: false };
  const { value, isAsWanted } = ground.data.open(stored, { key: SPARKS_KEY });
  if (!isJsonObject(value)) throw lockedError();
  const shelf = readSparks(value);
  return { ...shelf, isOld: !isAsWanted && shelf.sparks.length + shelf.foreign.length > 0 };
}

/** Writing over what we cannot read would bring back what was dismissed. */
function lockedError(): PeerError {
  return new PeerError('the suggestions on the server are sealed with another key', {
    code: 'peers-encryption',
    forModel: 'the suggestions cannot be read, so nothing was changed',
    fix: 'Put the key file peers/account-data.key of this agent back, and set peers.encrypt_account_data: true.',
  });
}

function isSame(before: readonly Spark[], after: readonly Spark[]): boolean {
  return before.length === after.length && holdsSparks(before, after) && holdsSparks(after, before);
}

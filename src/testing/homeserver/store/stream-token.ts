// Owns the text form of a place in the stream, as `/sync` and `/messages` give it to clients. Pure.
import { badRequest } from '../wire/matrix-failure.ts';

/** Right after everything up to and with `position`. */
export function streamToken(position: number): string {
  return `s${position}`;
}

/** Messages to devices are handed out in portions, so `/sync` keeps a second place for them. */
export interface SyncPlace {
  readonly position: number;
  readonly toDevice: number;
}

export function syncToken({ position, toDevice }: SyncPlace): string {
  return toDevice === position ? streamToken(position) : `s${position}_${toDevice}`;
}

/** @throws MatrixFailure 400 M_UNKNOWN */
export function readSyncToken(token: string): SyncPlace {
  const [, digits, second] = /^s(\d{1,15})(?:_(\d{1,15}))?$/.exec(token) ?? [];
  if (digits === undefined) throw badRequest('M_UNKNOWN', 'Invalid stream token');
  return { position: Number(digits), toDevice: Number(second ?? digits) };
}

/** @throws MatrixFailure 400 M_UNKNOWN */
export function readStreamToken(token: string): number {
  return readSyncToken(token).position;
}

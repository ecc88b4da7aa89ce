// Owns the form of the read mark in the account data of a room: up to where messages were shown to the agent. Pure.
import { z } from 'zod';
import { isoTime, parseTime } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';

export interface ReadMark {
  readonly eventId: string;
  /** Epoch ms of that event, for when it is no longer among the known ones. */
  readonly at: number;
}

const schema = z.object({ event_id: z.string().min(1), at: z.string() });

export function readReadMark(value: JsonObject): ReadMark | undefined {
  const read = schema.safeParse(value);
  return read.success ? { eventId: read.data.event_id, at: parseTime(read.data.at) ?? 0 } : undefined;
}

export function writeReadMark(mark: ReadMark): JsonObject {
  return { event_id: mark.eventId, at: isoTime(mark.at) };
}

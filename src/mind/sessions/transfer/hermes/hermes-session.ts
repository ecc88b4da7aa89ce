// Owns what a session read from a hermes-agent home is, whichever file it came from. Knows no file.
import type { BroughtMessage, BroughtSession } from '../bring-session.ts';
import { type HermesMessage, type MappingPlace, mapMessage } from './map-message.ts';

export interface HermesSession {
  readonly session: BroughtSession;
  readonly messages: readonly BroughtMessage[];
  /** Parts without text, pictures mostly. */
  readonly droppedParts: number;
  /** Rows whose role is none of a conversation. */
  readonly droppedRows: number;
}

export type TimedMessage = HermesMessage & Pick<BroughtMessage, 'at' | 'state'>;

/** Nobody types there: a job, a board or another agent wrote the user messages. */
const MACHINE_SOURCES = new Set(['subagent', 'kanban', 'tool', 'cron', 'webhook', 'delegation']);
/** Anybody of the group may have written them. */
const SHARED_CHATS = new Set(['group', 'supergroup', 'channel', 'thread', 'forum']);

export function typedByOwner(source: string, chatType: string | undefined): boolean {
  return !MACHINE_SOURCES.has(source) && !SHARED_CHATS.has(chatType ?? '');
}

export function assembleSession(
  session: BroughtSession,
  rows: Iterable<TimedMessage>,
  typedBy: { readonly owner: boolean },
): HermesSession {
  const place: MappingPlace = {
    model: session.model ?? 'unknown',
    typedByOwner: typedBy.owner,
    toolNames: new Map(),
  };
  const messages: BroughtMessage[] = [];
  let droppedParts = 0;
  let droppedRows = 0;
  for (const row of rows) {
    const { message, dropped } = mapMessage(row, place);
    droppedParts += dropped;
    if (message) messages.push({ at: row.at, message, state: row.state });
    else droppedRows += 1;
  }
  return { session, messages, droppedParts, droppedRows };
}

// Owns what a foreground write rests on when its writer names nothing: the owner's words of the turn and the message with the call.
// Knows no tool. Invariant: only messages that are stored are cited.
import type { Database } from '#base/database/connection.ts';
import { ellipsize } from '#base/text.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { lastMessages } from '#mind/sessions/find-message.ts';
import { messageHandle } from './message-handle.ts';
import type { Citation } from './trace-guard/claim.ts';

const QUOTE = 300;
/** Messages back in which the turn's beginning is looked for. */
const LOOKED_AT = 200;

export function foregroundCitations(database: Database, sessionId: string): readonly Citation[] {
  const newestFirst = lastMessages(database, sessionId, LOOKED_AT);
  const said = newestFirst.find((stored) => ownerText(stored) !== '');
  const called = newestFirst.find(({ message }) => message.role === 'assistant');
  const isThisTurn = called !== undefined && (said === undefined || called.id > said.id);
  return [
    ...(said === undefined ? [] : [{ handle: messageHandle(said.id), quote: ellipsize(ownerText(said), QUOTE) }]),
    ...(isThisTurn ? [{ handle: messageHandle(called.id), quote: '' }] : []),
  ];
}

function ownerText({ message }: StoredMessage): string {
  if (message.role !== 'user') return '';
  const typed = message.parts.filter(
    ({ origin, label }) => origin === 'owner' && (label === undefined || label === 'steer'),
  );
  return typed
    .map(({ text }) => text)
    .join('\n')
    .trim();
}

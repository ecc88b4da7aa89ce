// Owns how a citation is shown: the quote beside the message as it stands in the store now. Knows no surface.
import { canonicalJson } from '#base/json.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { type Message, messageText, toolCalls } from '#core/model/message.ts';
import type { ShownCitation } from './proposal.ts';
import type { Citation } from './trace-guard/claim.ts';

/** Without a message it was forgotten, and only the quote is left. */
export function showCitation(citation: Citation, stored: StoredMessage | undefined): ShownCitation {
  if (stored === undefined) return citation;
  const { sessionId, id, at, message } = stored;
  return { ...citation, sessionId, messageId: id, role: message.role, at, text: shownText(message) };
}

function shownText(message: Message): string {
  const calls = toolCalls(message).map(({ name, arguments: given }) => `${name} ${canonicalJson(given)}`);
  return [messageText(message), ...calls].filter((text) => text !== '').join('\n');
}

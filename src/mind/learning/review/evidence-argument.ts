// Owns the argument `evidence` that proposing tools read beside the shown ones: `[{message_id, quote}]`. Knows no gate.
// Invariant: lenient in form (ids as text, `#12`, one object instead of a list), never in substance: what cannot be read cites nothing.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { messageHandle } from '#mind/evidence/message-handle.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';

const MOST = 40;

export function readEvidence(value: JsonValue | undefined): readonly Citation[] {
  const items = Array.isArray(value) ? value : isJsonObject(value) ? [value] : [];
  return items.slice(0, MOST).flatMap((item) => (isJsonObject(item) ? citationOf(item) : []));
}

/** The arguments as the tool that would make the change takes them. */
export function withoutEvidence({ evidence: _cited, ...change }: JsonObject): JsonObject {
  return change;
}

function citationOf(item: JsonObject): readonly Citation[] {
  const id = /^(?:message:|#)?(\d{1,15})$/.exec(String(item.message_id ?? item.id ?? '').trim())?.[1];
  const { quote } = item;
  return id === undefined || typeof quote !== 'string' ? [] : [{ handle: messageHandle(Number(id)), quote }];
}

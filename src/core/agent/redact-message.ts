// Owns taking known secrets out of a message before it becomes part of a conversation. Knows no secret: it is given a way to redact.
// Invariant: only strings change, so the message keeps its form; what is stored is what is sent.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { AssistantMessage, Message, TextPart } from '#core/model/message.ts';

type Redact = (text: string) => string;

export function redactMessage(message: Message, redact: Redact): Message {
  switch (message.role) {
    case 'user':
      return { ...message, parts: message.parts.map((part) => redactText(part, redact)) };
    case 'assistant':
      return { ...message, parts: message.parts.map((part) => redactAssistantPart(part, redact)) };
    case 'tool':
      return { ...message, parts: [{ ...message.parts[0], text: redact(message.parts[0].text) }] };
  }
}

function redactText(part: TextPart, redact: Redact): TextPart {
  return { ...part, text: redact(part.text) };
}

/** Signed reasoning goes back to its provider byte for byte, so it stays as it came. */
function redactAssistantPart(
  part: AssistantMessage['parts'][number],
  redact: Redact,
): AssistantMessage['parts'][number] {
  if (part.type === 'text') return redactText(part, redact);
  if (part.type === 'reasoning') return part.replay === undefined ? { ...part, text: redact(part.text) } : part;
  const malformed = part.malformed === undefined ? {} : { malformed: redact(part.malformed) };
  return { ...part, arguments: redactObject(part.arguments, redact), ...malformed };
}

function redactObject(object: JsonObject, redact: Redact): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, redactValue(value, redact)]));
}

function redactValue(value: JsonValue | undefined, redact: Redact): JsonValue | undefined {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redact) ?? null);
  return isJsonObject(value) ? redactObject(value, redact) : value;
}

/** Stored messages for tests of the gate, ids from 1. */
import type { StoredMessage } from '#core/agent/session-store.ts';
import { type Message, type TextPart, userMessage } from '#core/model/message.ts';
import type { JsonObject } from '#public/talaria.ts';

export function stored(messages: readonly Message[]): readonly StoredMessage[] {
  return messages.map((message, index) => ({ id: index + 1, sessionId: 's1', at: 1_000 + index, message }));
}

export function owner(text: string, ...extra: readonly TextPart[]): Message {
  return userMessage(text, extra);
}

export function assistant(text: string): Message {
  return { role: 'assistant', model: 'test/one', parts: [{ type: 'text', text, origin: 'model' }] };
}

export interface CallOptions {
  readonly exitCode?: number;
  readonly isError?: boolean;
  readonly refused?: string;
  readonly callId?: string;
}

/** A call and its result: two messages. */
export function call(
  name: string,
  given: JsonObject,
  text: string,
  { exitCode, isError, refused, callId = 'c1' }: CallOptions = {},
): readonly [Message, Message] {
  const observed = {
    ms: 1,
    bytes: text.length,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(refused === undefined ? {} : { refused }),
  };
  return [
    {
      role: 'assistant',
      model: 'test/one',
      parts: [{ type: 'tool-call', callId, name, arguments: given, origin: 'model' }],
    },
    {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId,
          name,
          text,
          isError: isError ?? (exitCode ?? 0) !== 0,
          origin: 'foreign',
          observed,
        },
      ],
    },
  ];
}

// Owns the conversation's own data: messages made of parts, each part with its origin (design: failure, trust, money).
// Knows no provider's wire format. Invariant: plain readonly JSON data; what is stored is what is sent.
import type { JsonObject } from '#base/json.ts';

/**
 * Where a part's content comes from. `owner`: typed by the user. `observed`: our own record (which call, exit status, time, size).
 * `foreign`: content of tool output, files, web, peers. `model`: assistant text, the weakest.
 */
export type Origin = 'owner' | 'observed' | 'foreign' | 'model';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly origin: Origin;
  /** What put it there when it was not typed: volatile context of a hook, piped input, an attached file, a steer in mid-turn, our own notice, a compression. */
  readonly label?: 'context' | 'stdin' | 'file' | 'steer' | 'notice' | 'summary';
  /** File that holds what was piped in, for tools. */
  readonly spill?: string;
}

/** A picture; its bytes lie once in `blobs/` of the home, by their hash. */
export interface ImagePart {
  readonly type: 'image';
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** SHA-256 of the bytes, in hex. */
  readonly hash: string;
  readonly bytes: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** As a person knows it: a file's name. */
  readonly name?: string;
  readonly origin: Origin;
  /** It is somebody's word as a text without one is. */
  readonly label?: never;
}

export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly origin: 'model';
  /** Opaque data that the provider wants back beside the text (signatures); absent when it wants nothing back. */
  readonly replay?: JsonObject;
}

export interface ToolCallPart {
  readonly type: 'tool-call';
  readonly callId: string;
  readonly name: string;
  readonly arguments: JsonObject;
  /** `foreign`: its stored row is not as it was written, so that it is no record. */
  readonly origin: 'model' | 'foreign';
  /** Set when the arguments could not be read: the raw text, for the error that the model gets back. */
  readonly malformed?: string;
}

/** Our own record of a call's execution; origin `observed`. */
export interface Observation {
  readonly ms: number;
  readonly bytes: number;
  readonly exitCode?: number;
  /** File that holds the whole output when `text` is a preview. */
  readonly spill?: string;
  /** Why nothing ran, as far as we know: reason code of a refusal (`tool-not-allowed`, `denied`, …), or `not-sealed`. */
  readonly refused?: string;
}

export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  /** `foreign` for content of files, commands, web; `observed` when the text is wholly our own record. */
  readonly origin: 'foreign' | 'observed';
  /** What it shows beside its text. */
  readonly images?: readonly ImagePart[];
  readonly observed: Observation;
}

/** What somebody says, or what is said beside it. */
export type UserPart = TextPart | ImagePart;

export interface UserMessage {
  readonly role: 'user';
  readonly parts: readonly UserPart[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly parts: readonly (TextPart | ReasoningPart | ToolCallPart)[];
  /** Id of the model that wrote it, e.g. `openai/gpt-5`, `reflex/1`. */
  readonly model: string;
  /** Set when the step did not end by itself: `aborted` keeps what had arrived. */
  readonly cut?: 'aborted' | 'length' | 'failed';
}

/** One result a message: the order of messages is the order of the calls. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly parts: readonly [ToolResultPart];
}

export type Message = UserMessage | AssistantMessage | ToolMessage;
export type Role = Message['role'];
export type Part = Message['parts'][number];

export function isText(part: Part): part is TextPart {
  return part.type === 'text';
}

/** The pictures of a message, or of its result. */
export function imagesIn({ parts }: Message): readonly ImagePart[] {
  return (parts as readonly Part[]).flatMap((part) => {
    if (part.type === 'image') return [part];
    return part.type === 'tool-result' ? (part.images ?? []) : [];
  });
}

/** What stands for a picture where none can be shown: `[image NAME, 640×480]`; `why`: behind a comma. */
export function imageNote({ name, width, height }: ImagePart, why = ''): string {
  return `[${['image', name].filter(Boolean).join(' ')}, ${width}×${height}${why}]`;
}

export function userMessage(text: string, extra: readonly TextPart[] = []): UserMessage {
  return { role: 'user', parts: [...extra, { type: 'text', text, origin: 'owner' }] };
}

/** The visible text of a message: text parts that somebody said, not context, notices or summaries; results of tools as the model saw them. */
export function messageText(message: Message): string {
  const texts: string[] = [];
  for (const part of message.parts) {
    if (part.type === 'tool-result') texts.push(part.text);
    if (part.type === 'text' && !isAside(part)) texts.push(part.text);
  }
  return texts.join('\n').trim();
}

/** Text that stands in a message without being said by anybody in it. */
function isAside({ label }: TextPart): boolean {
  return label === 'context' || label === 'notice' || label === 'summary';
}

/**
 * The taint of a session, asked of its live context: do words stand there that the owner did not write? What a model writes down for good may
 * then be theirs, so nothing that persists is written unasked. A new session has none; a compression keeps the taint of what it stands for.
 */
export function isTainted(messages: readonly Message[]): boolean {
  return messages.some(({ parts }) =>
    parts.some((part) => part.origin === 'foreign' && (!('text' in part) || part.text !== '')),
  );
}

export function toolCalls(message: Message): readonly ToolCallPart[] {
  return message.role === 'assistant' ? message.parts.filter((part) => part.type === 'tool-call') : [];
}

/** A line of the owner, or text piped in: a steer or a notice in mid-turn begins no turn. */
export function startsTurn(message: Message): boolean {
  return message.role === 'user' && message.parts.some(({ label }) => label === undefined || label === 'stdin');
}

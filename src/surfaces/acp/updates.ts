// Owns what crosses the wire as plain data: blocks of a prompt into parts, events of a turn and messages of the past into updates. Knows no
// connection. Invariants: a call is told once, and each later word on it holds all that was shown of it; what is attached is foreign and labelled.
import { basename, resolve } from 'node:path';
import type { ContentBlock, SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import type { Blobs } from '#base/blobs.ts';
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { headTail } from '#base/text.ts';
import type { FileChange } from '#core/agent/tool.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ImagePart, Message, Part, ToolResultPart, UserPart } from '#core/model/message.ts';
import { MOST_IMAGES } from '#core/model/pictures.ts';
import { readTodos } from '#core/tools/talk-tools.ts';
import type { App } from '#surfaces/app/app.ts';

/** What was asked cannot be meant. */
export class Wrong extends TalariaError {}

export interface Sight {
  readonly cwd: string;
  readonly blobs: Pick<Blobs, 'read'>;
  /** Changes that each call of the turn showed so far. */
  readonly shown: Map<string, ToolCallContent[]>;
}

type Seen = Omit<Sight, 'shown'>;

const KINDS: Readonly<Record<string, ToolKind>> = {
  ...{ read_file: 'read', skill_view: 'read', recursive_read: 'read', write_file: 'edit', patch: 'edit' },
  ...{ search_files: 'search', session_search: 'search', tool_search: 'search', web_search: 'fetch' },
  ...{ web_fetch: 'fetch', terminal: 'execute', process: 'execute', todo: 'think', delegate_task: 'think' },
};

export function updatesOf(event: TurnEvent, { shown, ...sight }: Sight): readonly SessionUpdate[] {
  if (event.type === 'text-delta') return said('agent_message', event.text);
  if (event.type === 'reasoning-delta') return said('agent_thought', event.text);
  if (event.type === 'notice') return said('agent_thought', `${event.text}\n`);
  if (event.type === 'model-retry' || event.type === 'model-fallback')
    return said('agent_thought', `The model is asked again, or another one: ${event.reason}\n`);
  if (event.type === 'tool-start') return [callOf(event, event.summary, sight.cwd)];
  if (event.type === 'tool-end') return resultOf(event.result, sight, shown.get(event.callId));
  if (event.type !== 'file-change') return [];
  const { callId: toolCallId, kind } = event;
  const content = [...(shown.get(toolCallId) ?? []), ...shownChange(event, sight.cwd)];
  shown.set(toolCallId, content);
  const place = { locations: [{ path: resolve(sight.cwd, event.path) }] };
  const update = { sessionUpdate: 'tool_call_update' as const, toolCallId, content, ...place };
  return [kind === 'deleted' ? { ...update, kind: 'delete' } : update];
}

export function said(as: 'agent_message' | 'agent_thought' | 'user_message', text: string): readonly SessionUpdate[] {
  return text === '' ? [] : [{ sessionUpdate: `${as}_chunk`, content: { type: 'text', text } }];
}

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

type Called = { readonly callId: string; readonly name: string; readonly arguments: JsonObject };

function callOf({ callId, name, arguments: rawInput }: Called, title: string, cwd: string): SessionUpdate {
  const { path, offset } = rawInput;
  const line = typeof offset === 'number' ? { line: offset } : {};
  const locations = typeof path === 'string' ? [{ path: resolve(cwd, path), ...line }] : [];
  const call = { toolCallId: callId, title, kind: KINDS[name] ?? 'other', locations, rawInput };
  return { sessionUpdate: 'tool_call', status: 'in_progress', ...call };
}

/** One difference a hunk, old and new lines with what stands around them. */
function shownChange({ kind, diff, more, path: shown }: FileChange, cwd: string): ToolCallContent[] {
  const path = resolve(cwd, shown);
  const side = (lines: readonly string[], sign: string) =>
    lines.flatMap((line) => (line[0] === ' ' || line[0] === sign ? `${line.slice(1)}\n` : [])).join('');
  const hunks = diff.split(/^@@.*\n/m).slice(1);
  if (hunks.length === 0 && kind !== 'created') return [textContent(`${path}: ${diff}`)];
  const changes = (hunks.length === 0 ? [''] : hunks).map((hunk): ToolCallContent => {
    const lines = hunk.split('\n');
    return { type: 'diff', path, oldText: kind === 'created' ? null : side(lines, '-'), newText: side(lines, '+') };
  });
  return more === 0 ? changes : [...changes, textContent(`${path}: ${more} more lines of the difference`)];
}

function resultOf(result: ToolResultPart, sight: Seen, changes: ToolCallContent[] = []): readonly SessionUpdate[] {
  const pictures = (result.images ?? []).map((one) => ({ type: 'content' as const, content: blockOf(one, sight) }));
  const content = [...changes, ...pictures, textContent(result.text)];
  const status = result.isError ? 'failed' : 'completed';
  const update = { sessionUpdate: 'tool_call_update' as const, toolCallId: result.callId, status, content } as const;
  if (result.name !== 'todo' || result.isError) return [update];
  const entries = readTodos([{ role: 'tool', parts: [result] }]).flatMap(({ content: text, status: state }) =>
    state === 'cancelled' ? [] : [{ content: text, status: state, priority: 'medium' as const }],
  );
  return [update, { sessionUpdate: 'plan', entries }];
}

function blockOf(image: ImagePart, { blobs }: Seen): ContentBlock {
  const data = blobs.read(image.hash)?.toString('base64');
  if (data === undefined) return { type: 'text', text: `[${image.name ?? 'image'}]` };
  return { type: 'image', data, mimeType: image.mediaType };
}

/** What was said before, told again. */
export function pastUpdates(messages: readonly Message[], sight: Seen): readonly SessionUpdate[] {
  return messages.flatMap(({ role, parts }) => (parts as readonly Part[]).flatMap((part) => past(role, part, sight)));
}

function past(role: Message['role'], part: Part, sight: Seen): readonly SessionUpdate[] {
  if (part.type === 'image') return [{ sessionUpdate: 'user_message_chunk', content: blockOf(part, sight) }];
  if (part.type === 'tool-result') return resultOf(part, sight);
  if (part.type === 'tool-call')
    return [callOf(part, `${part.name} ${JSON.stringify(part.arguments)}`.slice(0, 120), sight.cwd)];
  if (part.type === 'reasoning' || part.label === 'summary') return said('agent_thought', part.text);
  if (part.label === 'context' || part.label === 'notice') return [];
  return said(role === 'assistant' ? 'agent_message' : 'user_message', part.text);
}

type Keeper = Pick<App, 'keepImage'>;

/** What a person typed, and what stands before it; `room`: characters of one attached text. Throws `Wrong`. */
export function readPrompt(blocks: readonly ContentBlock[], keeper: Keeper, room: number) {
  const held = blocks.map((block) => readBlock(block, keeper, Math.min(room, 80_000)));
  const [text, extra] = [held.flatMap(([word]) => word ?? []).join('\n'), held.flatMap(([, part]) => part ?? [])];
  if (extra.length === 0 && text.trim() === '') throw new Wrong('the prompt is empty', { code: 'empty-prompt' });
  if (extra.filter(({ type }) => type === 'image').length > MOST_IMAGES)
    throw new Wrong(`a prompt takes ${MOST_IMAGES} pictures`, { code: 'too-many-images' });
  return { text: text || '(see what is attached)', extra };
}

type Held = readonly [word?: string | undefined, part?: UserPart];

function readBlock(block: ContentBlock, keeper: Keeper, room: number): Held {
  if (block.type === 'text') return [block.text];
  if (block.type === 'audio') throw new Wrong('audio is not taken; send the words', { code: 'no-audio' });
  if (block.type === 'image') return [undefined, pictureOf(block.data, basename(block.uri ?? ''), keeper)];
  const held = block.type === 'resource' ? block.resource : block;
  const place = held.uri.replace(/^file:\/\//, '');
  const word = `@${block.type === 'resource' ? basename(place) : block.name}`;
  if ('blob' in held && held.mimeType?.startsWith('image/'))
    return [word, pictureOf(held.blob, basename(place), keeper)];
  const shown = 'text' in held ? `\n${headTail(held.text, room * 0.75, room * 0.25)}\n[end of ${place}]` : '';
  const text = `[${'text' in held ? 'file' : 'link, not read yet:'} ${place}]${shown}`;
  return [word, { type: 'text', text, origin: 'foreign', label: 'file' }];
}

function pictureOf(data: string, name: string, { keepImage }: Keeper): ImagePart {
  const kept = keepImage(Buffer.from(data, 'base64'), { ...(name === '' ? {} : { name }), origin: 'foreign' });
  if (!kept.ok) throw new Wrong(kept.detail, { code: kept.reason });
  return kept.value;
}

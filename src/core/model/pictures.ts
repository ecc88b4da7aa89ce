// Owns what pictures are to a conversation: telling one by its first bytes, keeping it, and what of a user's message a model gets: the bytes, or
// a note where it sees none. Knows no wire format. Invariant: the same parts and eyes give the same blocks, so that a request extends the one before.
import type { Blobs } from '#base/blobs.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type ImagePart, imageNote, type Origin, type ToolResultPart, type UserPart } from './message.ts';

type ImageFacts = Pick<ImagePart, 'mediaType' | 'width' | 'height'>;

/** Undefined: no PNG, JPEG, GIF or WebP, or one that is cut off before its size. */
export function readImage(bytes: Uint8Array): ImageFacts | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const facts = pngFacts(view) ?? gifFacts(view) ?? jpegFacts(view) ?? webpFacts(view);
    return facts && facts.width > 0 && facts.height > 0 ? facts : undefined;
  } catch (error) {
    // It ends where its size should stand.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function pngFacts(view: Buffer): ImageFacts | undefined {
  if (view.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return undefined;
  return { mediaType: 'image/png', width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
}

function gifFacts(view: Buffer): ImageFacts | undefined {
  if (!/^GIF8[79]a$/.test(view.toString('latin1', 0, 6))) return undefined;
  return { mediaType: 'image/gif', width: view.readUInt16LE(6), height: view.readUInt16LE(8) };
}

/** The size stands in the frame header, behind other segments. */
function jpegFacts(view: Buffer): ImageFacts | undefined {
  if (view.toString('latin1', 0, 3) !== '\xff\xd8\xff') return undefined;
  for (let at = 2; view.readUInt8(at) === 0xff; at += 2 + view.readUInt16BE(at + 2)) {
    const marker = view.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return { mediaType: 'image/jpeg', width: view.readUInt16BE(at + 7), height: view.readUInt16BE(at + 5) };
  }
  return undefined;
}

function webpFacts(view: Buffer): ImageFacts | undefined {
  if (view.toString('latin1', 0, 4) !== 'RIFF' || view.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const mediaType = 'image/webp';
  switch (view.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { mediaType, width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = view.readUInt32LE(21);
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { mediaType, width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

export const MOST_IMAGE_BYTES = 10_000_000;
/** In one message. */
export const MOST_IMAGES = 20;

export type ImageRefusal = 'no-image' | 'image-too-large';

/** A part for a message, its bytes kept. */
export function keepImage(
  bytes: Uint8Array,
  about: { readonly name?: string; readonly origin: Origin },
  blobs: Pick<Blobs, 'keep'>,
): Result<ImagePart, ImageRefusal> {
  const named = about.name ?? 'the picture';
  if (bytes.length > MOST_IMAGE_BYTES)
    return refuse('image-too-large', `${named} has ${bytes.length} bytes; pictures may have ${MOST_IMAGE_BYTES}`);
  const facts = readImage(bytes);
  if (!facts) return refuse('no-image', `${named} is no PNG, JPEG, GIF or WebP picture`);
  return ok({ type: 'image', ...facts, hash: blobs.keep(bytes), bytes: bytes.length, ...about });
}

/** Of one model. */
export interface Eyes {
  /** Its name, for notes. */
  readonly model: string;
  /** Absent: it sees nothing. */
  readonly bytesOf?: ((hash: string) => Buffer | undefined) | undefined;
}

export type UserBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly base64: string };

/** In the order of the parts; texts that follow one another are one, a blank line between. */
export function userBlocks(parts: readonly UserPart[], eyes: Eyes): readonly UserBlock[] {
  const blocks: UserBlock[] = [];
  for (const part of parts) {
    const block = part.type === 'text' ? ({ type: 'text', text: part.text } as const) : imageBlock(part, eyes);
    const last = blocks.at(-1);
    if (block.type === 'text' && block.text === '') continue;
    if (block.type === 'text' && last?.type === 'text')
      blocks.splice(-1, 1, { type: 'text', text: `${last.text}\n\n${block.text}` });
    else blocks.push(block);
  }
  return blocks;
}

const NOT_SEEN = (model: string) => `, not shown: ${model} reads no images`;

function imageBlock(part: ImagePart, { model, bytesOf }: Eyes): UserBlock {
  if (!bytesOf) return { type: 'text', text: imageNote(part, NOT_SEEN(model)) };
  const bytes = bytesOf(part.hash);
  if (!bytes) return { type: 'text', text: imageNote(part, ', not shown: its file is gone from this home') };
  return { type: 'image', mediaType: part.mediaType, base64: bytes.toString('base64') };
}

/** A result's words, with a note for each of its pictures where they cannot be shown. */
export function resultText({ text, images = [] }: ToolResultPart, eyes: Eyes): string {
  const notes = eyes.bytesOf ? [] : images.map((part) => imageNote(part, NOT_SEEN(eyes.model)));
  return [text, ...notes].filter((one) => one !== '').join('\n');
}

/** Where only text goes. */
export function userText(parts: readonly UserPart[], model: string): string {
  const [only] = userBlocks(parts, { model });
  return only?.type === 'text' ? only.text : '';
}

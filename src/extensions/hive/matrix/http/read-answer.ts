// Owns the reading of an answer's body: as a stream, up to a number of bytes, then as a JSON object or list. Knows no endpoint.
// Invariant: never more than `maxBytes` are held.
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** The rest is left out, instead of all being refused. */
  readonly isCut: boolean;
  /** Called with every piece. */
  readonly onBytes: () => void;
  /** Origin of the homeserver. */
  readonly server: string;
}

/** Throws `peers-too-large`, and what the stream throws. */
export async function readBody(response: Response, limits: BodyLimits): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    limits.onBytes();
    size += piece.length;
    if (size <= limits.maxBytes) pieces.push(piece);
    else if (limits.isCut) break;
    else throw tooLarge(limits);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Parsed data take many times the bytes of their text: a sync of 10,000 rooms has about a million values. */
const MAX_VALUES = 4_000_000;
/** As short an answer cannot hold too many. */
const MAX_UNCOUNTED = 2 * 1_048_576;
const [QUOTE, COMMA, BRACE, BRACKET, BACKSLASH] = [0x22, 0x2c, 0x7b, 0x5b, 0x5c];

/** Throws `peers-bad-response` for too many values, a web page, broken JSON and everything that is neither an object nor a list. */
export function readAnswer(body: string, server: string): JsonObject {
  if (body.length > MAX_UNCOUNTED && countValues(body) > MAX_VALUES)
    throw new PeerError(`${server} answered with more than can be taken in`, {
      code: 'peers-bad-response',
      fix: 'Check MATRIX_HOMESERVER: no homeserver answers like this.',
    });
  const parsed = parseJson(body);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  if (parsed.ok && Array.isArray(parsed.value)) return { list: parsed.value };
  const what = /^\s*</.test(body) ? 'a web page' : body === '' ? 'nothing' : 'something that is no JSON object';
  throw new PeerError(`${server} answered with ${what}`, {
    code: 'peers-bad-response',
    fix: 'Check MATRIX_HOMESERVER: it must be the address of a Matrix homeserver, and no proxy may stand in for it.',
  });
}

/** Objects, lists and what is in them, from their signs outside of texts; stops where it is too many. */
function countValues(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length && count <= MAX_VALUES; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === COMMA || code === BRACE || code === BRACKET) count += 1;
  }
  return count;
}

/** Where the text that begins there ends; the end of all when it does not. */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}

function tooLarge({ server, maxBytes }: BodyLimits): PeerError {
  return new PeerError(`${server} answered with more than ${Math.floor(maxBytes / 1_048_576)} MiB`, {
    code: 'peers-bad-response',
    fix: 'Use an account of its own for the agent, which is in fewer rooms.',
  });
}

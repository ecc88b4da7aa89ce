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

/** Throws `peers-bad-response` for a web page, broken JSON and everything that is neither an object nor a list. */
export function readAnswer(body: string, server: string): JsonObject {
  const parsed = parseJson(body);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  if (parsed.ok && Array.isArray(parsed.value)) return { list: parsed.value };
  const what = /^\s*</.test(body) ? 'a web page' : body === '' ? 'nothing' : 'something that is no JSON object';
  throw new PeerError(`${server} answered with ${what}`, {
    code: 'peers-bad-response',
    fix: 'Check MATRIX_HOMESERVER: it must be the address of a Matrix homeserver, and no proxy may stand in for it.',
  });
}

function tooLarge({ server, maxBytes }: BodyLimits): PeerError {
  return new PeerError(`${server} answered with more than ${Math.floor(maxBytes / 1_048_576)} MiB`, {
    code: 'peers-bad-response',
    fix: 'Use an account of its own for the agent, which is in fewer rooms.',
  });
}

// Owns what an owner tells a golem over the log: how it is signed and sent, and which of what came is taken. Knows no life. Invariants: what was altered,
// said before, not signed by an owner who is trusted, or meant for another changes nothing and is answered with why; no clock decides,
// but between two words of one key of which the golem keeps neither.
import { newId, sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import type { Heard, Word } from './clade.ts';
import type { StyxRow, StyxTransport } from './home-log.ts';
import { isSignedBy, type Owner, type Signature } from './owner-key.ts';
import { type Parcel, sendParcel, wholeParcels } from './parcels.ts';

/** On the golem's topic, in the owner's name. Throws as `append`. */
export async function sendWord(log: StyxTransport, owner: Owner, said: Omit<Word, 'id' | 'at'>): Promise<Word> {
  const word: Word = { ...said, id: newId('word'), at: owner.clock.now() };
  const body = { word: { ...word } };
  await log.append(`golem.${nameOf(word.golem)}.steer`, { ...body, ...owner.sign('word', body.word) });
  return word;
}

/** Of an id, `ledger-gen2`. */
function nameOf(golem: string): string {
  return golem.replace(/-gen\d+$/, '');
}

/** Words that a golem took, by the key that said them: those that it knows by id, and a time before which it takes none. */
export type KnownWords = Readonly<
  Record<string, { readonly ids: readonly (readonly [at: number, id: string])[]; readonly before: number }>
>;

/** Of each key. */
const KNOWN_WORDS = 256;
/** Rows that are looked through at once. */
const MOST_ROWS = 10_000;

export interface Listener {
  /** GolemState.golem and GolemState.signer. */
  readonly golem: string;
  readonly signer: string;
  /** Keys that speak for the owner. */
  readonly owners: readonly string[];
  readonly known: KnownWords;
}

export interface Heeded {
  readonly words: readonly Word[];
  readonly refused: readonly Heard[];
  /** With these words, to be kept when they are taken. Absent: nothing was said. */
  readonly known?: KnownWords;
}

/** Nobody is looked up while nothing was said. */
export function heed(rows: readonly StyxRow[], listening: () => Listener): Heeded {
  return rows.length === 0 ? { words: [], refused: [] } : heard(rows, listening());
}

function heard(rows: readonly StyxRow[], listener: Listener): Heeded {
  let { known } = listener;
  const words: Word[] = [];
  const refused: Heard[] = [];
  for (const { body, origin, originSeq } of rows) {
    const { word, by } = isJsonObject(body) ? body : {};
    const why = whyNot(body, { ...listener, known });
    if (why === undefined && isWord(word)) {
      words.push(word);
      known = withWord(known, String(by), word);
    } else {
      const id = isJsonObject(word) && typeof word.id === 'string' ? word.id.slice(0, 64) : `${origin}:${originSeq}`;
      refused.push({ golem: listener.golem, id, tick: null, refused: why ?? 'unsigned' });
    }
  }
  return { words, refused, known };
}

function whyNot(body: JsonValue, { golem, signer, owners, known }: Listener): Heard['refused'] | undefined {
  const { word } = isJsonObject(body) ? body : {};
  const signed = signatureOf(body);
  if (signed === undefined || !isWord(word)) return 'unsigned';
  if (!owners.includes(signed.by)) return 'unknown-owner';
  if (!isSignedBy('word', { ...word }, signed)) return 'bad-signature';
  if (word.golem !== golem || word.signer.toLowerCase() !== signer.toLowerCase()) return 'not-for-it';
  const { ids = [], before = 0 } = known[signed.by] ?? {};
  return word.at < before || ids.some(([, id]) => id === word.id) ? 'replayed' : undefined;
}

function signatureOf(body: JsonValue): Signature | undefined {
  const { by, signature } = isJsonObject(body) ? body : {};
  return typeof by === 'string' && typeof signature === 'string' ? { by, signature } : undefined;
}

const KINDS: readonly unknown[] = ['steer', 'pause', 'resume', 'dream', 'retire', 'rollback'] satisfies Word['kind'][];

function isWord(word: unknown): word is Word & JsonObject {
  if (!isJsonObject(word)) return false;
  const { id, kind, golem, signer, at, text = '', skill = '', version = 0 } = word;
  const texts = [id, golem, signer, text, skill].every((value) => typeof value === 'string');
  return texts && KINDS.includes(kind) && typeof at === 'number' && typeof version === 'number';
}

function withWord(known: KnownWords, by: string, { at, id }: Word): KnownWords {
  const { ids = [], before = 0 } = known[by] ?? {};
  const all = [...ids, [at, id] as const].toSorted(([one], [other]) => other - one);
  const [forgotten] = all.splice(KNOWN_WORDS);
  return { ...known, [by]: { ids: all, before: forgotten === undefined ? before : forgotten[0] + 1 } };
}

/** What an owner gives a golem to learn from: text of a bundle. */
export async function sendKit(
  log: StyxTransport,
  owner: Owner,
  { text, ...meant }: { readonly golem: string; readonly signer: string; readonly text: string },
): Promise<void> {
  const about = { ...meant, hash: sha256(text) };
  await sendParcel(log, 'clade.kit', text, { kit: about, ...owner.sign('kit', about) });
}

/** Kits that came after this row, signed for this golem or named by a path in this home. Undefined: nothing came. */
export function kitsFor(log: StyxTransport, after: number, listener: () => Listener) {
  const last = log.read(['clade.kit'], after, MOST_ROWS).at(-1);
  if (last === undefined) return undefined;
  const meant = listener();
  // Parts of one kit may lie on both sides of that row.
  const all = log.read(['clade.kit'], Math.max(0, after - MOST_ROWS), 2 * MOST_ROWS);
  const rows = all.filter(({ seq }) => seq > after && seq <= last.seq);
  const came = new Set(rows.map(({ body }) => (isJsonObject(body) ? body.hash : undefined)));
  const whole = wholeParcels(all).filter(({ hash }) => came.has(hash));
  const sent = whole.flatMap((kit) => (isKitFor(kit, meant) ? [kit.text] : []));
  const near = rows.flatMap(({ body, origin }) => {
    const isNear = isJsonObject(body) && body.golem === meant.golem && typeof body.path === 'string';
    return isNear && origin === log.origin ? (readIfThere(String(body.path)) ?? []) : [];
  });
  return { texts: [...sent, ...near], upTo: last.seq };
}

function isKitFor({ about, hash }: Parcel, { golem, signer, owners }: Listener): boolean {
  const signed = signatureOf(about);
  const { kit } = about;
  if (signed === undefined || !isJsonObject(kit) || !owners.includes(signed.by)) return false;
  return kit.golem === golem && kit.signer === signer && kit.hash === hash && isSignedBy('kit', kit, signed);
}

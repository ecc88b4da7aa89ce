// Owns who is meant by what somebody calls a peer (hivemind notes 6, B1 and B2; ADR 0023; R4.69, R4.71). Pure. Invariants: an exact id or an
// exact name, never a part of one; names that look the same are the same, whatever their forms of compatibility, case and invisible
// characters; a name with `@` in it looks like somebody's id; whoever is not meant for sure is not found.

import { ellipsize } from '#base/text.ts';
import { PeerError } from './peer-error.ts';
import type { KnownPeer } from './peer-transport.ts';

const ASCII = /^[\x20-\x7e]*$/;
/** What nobody sees; U+2800 is drawn as a blank. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

export function foldName(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const seen = text.normalize('NFKC').replace(UNSEEN, '');
  return seen.toUpperCase().toLowerCase().normalize('NFKC').replace(UNSEEN, '');
}

/** All whose name looks like that one. */
function namesakes(peers: readonly KnownPeer[], name: string): readonly KnownPeer[] {
  const folded = foldName(name);
  return peers.filter(({ peer }) => foldName(peer.name) === folded);
}

/** Such a name is shown as an id only. */
export function looksLikeId(name: string): boolean {
  return foldName(name).includes('@');
}

/** What stands before the last `@`: `hermes-of-carol` of `hermes-of-carol@localhost`. */
export function peerName(id: string): string {
  const at = id.lastIndexOf('@');
  return at > 0 ? id.slice(0, at) : id;
}

/** Throws `peer-unknown`, or `peer-ambiguous` with the ids to choose from. */
export function findPeer(peers: readonly KnownPeer[], asked: string): KnownPeer {
  const wanted = asked.trim();
  const byId = peers.find(({ peer }) => peer.id === wanted);
  if (byId !== undefined) return byId;
  const named = peers.find(({ peer }) => peer.name === wanted);
  if (named === undefined || looksLikeId(wanted)) throw unknownPeer(asked);
  const alike = namesakes(peers, wanted);
  if (alike.length > 1) throw ambiguous(wanted, alike);
  return named;
}

export function unknownPeer(asked: string): PeerError {
  const text = `there is no peer ${quoted(asked)}`;
  return new PeerError(text, { code: 'peer-unknown', forModel: text, fix: 'See who is known: talaria peers list.' });
}

const SHOWN = 10;

function ambiguous(name: string, named: readonly KnownPeer[]): PeerError {
  const ids = named.slice(0, SHOWN).map(({ peer }) => quoted(peer.id));
  const more = named.length > SHOWN ? ` and ${named.length - SHOWN} more` : '';
  const text = `several peers are named ${quoted(name)}: ${ids.join(', ')}${more}; say which id`;
  return new PeerError(text, { code: 'peer-ambiguous', forModel: text, fix: 'Use the whole id.' });
}

/** Somebody else chose these words: they end where the quotation ends, and no direction mark turns the rest around. */
function quoted(text: string): string {
  return JSON.stringify(ellipsize(text.replace(/[\p{Cc}\p{Cf}]/gu, ' '), 120));
}

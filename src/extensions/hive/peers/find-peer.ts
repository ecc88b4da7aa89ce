// Owns the look-up of a peer by what somebody calls it (hivemind notes 6, B1 and B2; R4.69, R4.71).
// Invariant: an exact id or an exact name that looks like no other, never a part of one; whoever is not meant for sure is not found.
import { ellipsize } from '#base/text.ts';
import { looksLikeId, namesakes } from './namesakes.ts';
import { PeerError } from './peer-error.ts';
import type { KnownPeer } from './peer-transport.ts';

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

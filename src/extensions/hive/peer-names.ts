// Owns who is meant by what somebody calls a peer (hivemind notes 6, B1 and B2; ADR 0023; R4.69, R4.71), and making foreign text harmless to
// look at. Pure and linear. Invariants: an exact id or an exact name, never a part of one; names that look the same are the same, whatever their
// forms, case and invisible characters; a name with `@` in it looks like somebody's id; whoever is not meant for sure is not found. No control
// character, escape sequence, direction mark or anything invisible is left of foreign text; a quotation is one line that nothing inside can end.

import { stripVTControlCharacters } from 'node:util';
import { foldText } from '#base/text/fold.ts';
import { UNSEEN } from '#base/text/unseen.ts';
import { ellipsize, oneLine as folded, sliceText, wellFormed } from '#base/text.ts';
import { type KnownPeer, PeerError } from './peer.ts';

/** Such a name is shown as an id only. */
export function looksLikeId(name: string): boolean {
  return foldText(name, 'name').includes('@');
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
  const alike = peers.filter(({ peer }) => foldText(peer.name, 'name') === foldText(wanted, 'name'));
  if (alike.length > 1) throw ambiguous(wanted, alike);
  return named;
}

export function unknownPeer(asked: string): PeerError {
  const text = `there is no peer ${cited(asked)}`;
  return new PeerError(text, { code: 'peer-unknown', forModel: text, fix: 'See who is known: talaria peers list.' });
}

const SHOWN = 10;

function ambiguous(name: string, named: readonly KnownPeer[]): PeerError {
  const ids = named.slice(0, SHOWN).map(({ peer }) => cited(peer.id));
  const more = named.length > SHOWN ? ` and ${named.length - SHOWN} more` : '';
  const text = `several peers are named ${cited(name)}: ${ids.join(', ')}${more}; say which id`;
  return new PeerError(text, { code: 'peer-ambiguous', forModel: text, fix: 'Use the whole id.' });
}

/** Somebody else chose these words: they end where the quotation ends, and no direction mark turns the rest around. */
function cited(text: string): string {
  return JSON.stringify(ellipsize(text.replace(/[\p{Cc}\p{Cf}]/gu, ' '), 120));
}

const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** The joiners, one in a row, and the mark of emoji, which scripts and emoji need. */
const JOINER = /\u200c|\u200d|\ufe0f/u;
const JOINERS = /(?:\u200c|\u200d|\ufe0f){2,}/gu;

/** Line breaks and tabs stay. A plain text stays as it is, so what was shown can be sent. */
export function plainText(text: string): string {
  return stripVTControlCharacters(wellFormed(text))
    .replace(LINE_ENDS, '\n')
    .replace(UNSEEN, (one) => (JOINER.test(one) ? one : ''))
    .replace(JOINERS, (run) => `${run.startsWith('\ufe0f') ? '\ufe0f' : ''}${/\u200c|\u200d/u.exec(run)?.[0] ?? ''}`);
}

/** One line: the first `max` characters, and `…` where there were more. */
export function oneLine(text: string, max: number): string {
  // Cut first: what a peer wrote may be a megabyte, of which a line is shown.
  const start = text.slice(0, max * 8);
  const line = folded(plainText(start));
  return line.length <= max ? line : `${sliceText(line, max)}…`;
}

/** One line in quotation marks; `<` and `>` can close nothing around it. */
export function quoted(text: string, max: number): string {
  return JSON.stringify(oneLine(text, max)).replace(/</g, '‹').replace(/>/g, '›');
}

/** ASCII alone: letters of another script can look like these. One `@`, with a server behind it. */
const PLAIN_NAME = /^[a-z0-9][a-z0-9._=/+-]{0,59}(?:@[a-z0-9.:[\]-]{1,60})?$/i;
const NAME_LIMIT = 60;

/** A name or id as it is when it looks like one, else in quotation marks. */
export function plainName(name: string): string {
  return PLAIN_NAME.test(name) ? name : quoted(name, name.includes('@') ? 2 * NAME_LIMIT : NAME_LIMIT);
}

/** Tabs are blanks, at most one blank line in a row, none at the ends. */
export function tidyText(text: string): string {
  return plainText(text)
    .replace(/\t/g, '  ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

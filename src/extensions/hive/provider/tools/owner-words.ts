// Owns what the owner's own words of this turn give leave for: a peer that they name, an introduction that they ask for (ADR 0023).
// Knows no tool. Invariants: only what was typed counts, never context, piped text or what a peer wrote; a plain word is a name only where
// somebody is addressed, so that no peer called `you` or `to` is ever named by accident.

import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';
import type { Message } from '#core/model/message.ts';
import type { Peer } from '../../peers/peer.ts';

/** Everything typed since this turn began; steers in mid-turn are the owner's too. */
export function ownerWords(history: readonly Message[]): string {
  const start = Math.max(0, history.findLastIndex(beginsTurn));
  const typed = history
    .slice(start)
    .flatMap((message) =>
      message.role === 'user' ? message.parts.filter(({ origin, label }) => origin === 'owner' && isTyped(label)) : [],
    );
  return typed.map(({ text }) => text).join('\n');
}

function beginsTurn(message: Message): boolean {
  return message.role === 'user' && message.parts.some(({ label }) => label === undefined || label === 'stdin');
}

function isTyped(label: string | undefined): boolean {
  return label === undefined || label === 'steer';
}

/** Does the owner say to whom? `nameIsUnique`: nobody else has the name. */
export function namesPeer(words: string, peer: Pick<Peer, 'name' | 'id'>, nameIsUnique: boolean): boolean {
  return (peer.id.includes('@') && occurs(words, peer.id)) || (nameIsUnique && isNamed(words, peer.name));
}

const WANTED = /\b(?:introduc\w*|connect\w*|acquaint\w*|match\w*|in (?:touch|contact)|bring\b.{0,80}\btogether)\b/i;
const AGAINST = /\b(?:not|never|nobody|no|without|before|cannot)\b|n['’]t\b/i;
const ORDERED = /\b(?:can|could|would|will) you\b|\bplease\b/i;

/** Does the owner order an introduction? A question or a refusal that names both is no order. */
export function ordersIntroduction(words: string): boolean {
  return WANTED.test(words) && !AGAINST.test(words) && (!words.includes('?') || ORDERED.test(words));
}

/** As a word of its own: neither within a longer name nor within an id. */
function occurs(words: string, name: string): boolean {
  return name !== '' && pattern(name).test(words);
}

const TO = String.raw`(?:tell|ask|message|text|contact|ping|inform|remind|warn|thank|answer|greet|let|notify|update|introduce|connect|and|with)\s+`;
const SEND = String.raw`\b(?:send|write|reply|say|talk|speak|forward|pass|respond|reach\s+out|get\s+back)\b[^.!?\n]{0,200}?\bto\s+`;

function isNamed(words: string, name: string): boolean {
  if (!/^\p{L}+$/u.test(name)) return occurs(words, name);
  if (isStopStem(stemWord(name.toLowerCase()))) return false;
  return pattern(name, `(?:(?:${TO}|${SEND}|@)(?=NAME)|(?=NAME\\s*:))`).test(words);
}

/** `NAME` in `before` stands for the name itself. */
function pattern(name: string, before = ''): RegExp {
  const escaped = name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const lead = before.replaceAll('NAME', escaped);
  return new RegExp(`(?<![\\p{L}\\p{N}_=+/@.-])${lead}${escaped}(?![\\p{L}\\p{N}_=+/@-]|[.:][\\p{L}\\p{N}])`, 'iu');
}

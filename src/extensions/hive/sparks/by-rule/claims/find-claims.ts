// Owns understanding one sentence: which needs, offers and fields of the peer it tells. English, by patterns alone.
// Invariant: total; a claim is made only where the subject is the peer, and its object is a piece of the sentence.

import { contentTokens } from '../../words/content-tokens.ts';
import type { Cue } from '../cues/cue.ts';
import { expertiseCues } from '../cues/expertise-cues.ts';
import { needCues, settledCues } from '../cues/need-cues.ts';
import { offerCues } from '../cues/offer-cues.ts';
import type { Sentence } from '../read/sentence.ts';
import type { Claim } from './claim.ts';
import { readLeadIn } from './lead-in.ts';
import { objectOf } from './object-of.ts';
import type { Antecedent, Speaker } from './speaker.ts';
import { isNamed, leadingSubject, type Subject, subjectOf } from './subject-of.ts';
import { type VerbFrame, verbFrame } from './verb-frame.ts';

const CUES: readonly Cue[] = [...needCues, ...settledCues, ...offerCues, ...expertiseCues];

const BOUNDARY =
  /,\s+(?:(?:and|but|so|or|yet|then|also|plus|as well as)\s+)?|\s(?:and|but|so|while|because|although|though|whereas|plus|or|with|as well as)\s|\s[–—-]{1,2}\s|:\s|[()]/gi;

interface Hit {
  readonly cue: Cue;
  readonly start: number;
  readonly end: number;
  /** Where its clause begins. */
  readonly clause: number;
  readonly captured?: string;
}

export interface Reading {
  readonly speaker: Speaker;
  readonly antecedent: Antecedent;
}

export function findClaims(sentence: Sentence, reading: Reading): Claim[] {
  const hits = clausesOf(sentence.text, hitsOf(sentence.text));
  let carried: Carried = { subject: 'none', cue: undefined };
  return hits.flatMap((hit, index) => {
    const said = understand(sentence, hit, { ...reading, carried, isLast: index === hits.length - 1 });
    carried = { subject: said.subject, cue: said.subject === 'peer' ? hit.cue : undefined };
    if (said.subject !== 'peer' || said.isVoid) return [];
    const after = hit.captured ?? sentence.text.slice(hit.end, hits[index + 1]?.clause);
    if ((said.isBare === true && isSubject(after)) || isPurpose(sentence.text, hit)) return [];
    const pieces = hit.cue.form === 'label' ? after.split(',') : [after];
    return pieces
      .map((piece) => ({ kind: hit.cue.kind, object: objectOf(piece), isDenied: said.isDenied }))
      .filter(({ object, isDenied }) => (object !== '' && !isVague(hit.cue, object)) || isDenied);
  });
}

/** `working on a project` names no field; nor does what is the speaker's own. */
function isVague({ kind, form }: Cue, object: string): boolean {
  if (form === 'label') return false;
  if (kind === 'expertise' && /^(?:my|the positive)\b/i.test(object)) return true;
  return kind !== 'need' && kind !== 'settled' && contentTokens(object).length === 0;
}

/** In order; of two that overlap the first, of two at one place the longer. */
function hitsOf(text: string): Omit<Hit, 'clause'>[] {
  const hits = CUES.flatMap((one) =>
    [...text.matchAll(one.pattern)].map((match) => {
      const captured = match.groups?.object;
      const end = match.index + match[0].length;
      return { cue: one, start: match.index, end, ...(captured === undefined ? {} : { captured }) };
    }),
  );
  hits.sort((left, right) => left.start - right.start || right.end - left.end);
  const kept: Omit<Hit, 'clause'>[] = [];
  for (const hit of hits) {
    const isMisplaced = hit.cue.form === 'label' && hit.start > 0;
    // A label leads a list, whatever its items look like.
    if (kept[0]?.cue.form === 'label') break;
    if (!isMisplaced && hit.start >= (kept.at(-1)?.end ?? 0)) kept.push(hit);
  }
  return kept;
}

/** A hit in the same clause as the one before it belongs to that one's object. */
function clausesOf(text: string, hits: readonly Omit<Hit, 'clause'>[]): Hit[] {
  const bounds = [...text.matchAll(BOUNDARY)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }));
  const clauses: Hit[] = [];
  for (const hit of hits) {
    const before = clauses.at(-1);
    const since = text.slice(before?.end, hit.start);
    const bound =
      bounds.findLast(({ start, end }) => end <= hit.start && start >= (before?.end ?? 0)) ??
      // `is a judge who knows …`
      (before?.captured !== undefined && /^\s(?:who|that)\s(?:\w+\s)?$/.test(since) ? { end: hit.start } : undefined);
    if (before === undefined || bound !== undefined) clauses.push({ ...hit, clause: bound?.end ?? 0 });
  }
  return clauses;
}

interface Carried {
  readonly subject: Subject;
  readonly cue: Cue | undefined;
}

interface Understanding extends Reading {
  readonly carried: Carried;
  readonly isLast: boolean;
}

interface Said {
  readonly subject: Subject;
  /** Nobody: the sentence begins with the verb. */
  readonly isBare?: boolean;
  readonly isDenied: boolean;
  readonly isVoid: boolean;
}

const NOBODY: Said = { subject: 'other', isDenied: false, isVoid: true };

function understand({ text, isQuestion }: Sentence, hit: Hit, by: Understanding): Said {
  const { form } = hit.cue;
  if (form === 'label') return { subject: 'peer', isDenied: false, isVoid: false };
  if (form === 'request') return requested(text, hit, by);
  if (isQuestion && isAsked(text, hit, by.isLast)) return NOBODY;
  const frame = verbFrame(text.slice(hit.clause, hit.start));
  if (form === 'owned') return owned(frame, by);
  const { subject: named, lead } = subjectOf(frame.before, by.speaker, by.antecedent);
  const subject = named === 'none' ? missingSubject(text, { hit, hasBe: frame.hasBe }, by) : named;
  noteSubject(subject, frame.before, by);
  const leadIn = readLeadIn(lead, text.slice(0, hit.clause) + lead, by);
  const isBare = named === 'none' && hit.cue.form === 'state' && !frame.hasBe;
  return {
    subject,
    isBare,
    isDenied: frame.isDenied || leadIn.isDenied || refuses(text, hit),
    isVoid: frame.isUnreal || leadIn.isVoid,
  };
}

/** Whoever writes asks for it, unless the words are another's. */
function requested(text: string, hit: Hit, { speaker, antecedent }: Understanding): Said {
  if (speaker.voice === 'introducer') return NOBODY;
  const { isDenied, before } = verbFrame(text.slice(hit.clause, hit.start));
  const { isVoid } = readLeadIn(before, text.slice(0, hit.start), { speaker, antecedent });
  return { subject: 'peer', isDenied, isVoid };
}

const MINE = /(?:^|\s)(?:my|our)$/i;
const THEIRS = /(?:^|\s)(his|her|their|its)$/i;

function owned({ before, isDenied, isUnreal, hasBe }: VerbFrame, { speaker, antecedent }: Understanding): Said {
  const theirs = THEIRS.exec(before)?.[1];
  const named = hasBe ? before : theirs === undefined ? '' : pronounOf(theirs);
  const isMine = MINE.test(before) && speaker.voice === 'self';
  const isPeer = isMine || (named !== '' && subjectOf(named, speaker, antecedent).subject === 'peer');
  return { subject: isPeer ? 'peer' : 'other', isDenied, isVoid: isUnreal };
}

function pronounOf(possessive: string): string {
  const word = possessive.toLowerCase();
  return word === 'his' ? 'he' : word === 'her' ? 'she' : 'they';
}

interface Missing {
  readonly hit: Hit;
  readonly hasBe: boolean;
}

/** A verb without a subject takes that of the clause before it; at a sentence's begin it is the speaker's. */
function missingSubject(
  text: string,
  { hit, hasBe }: Missing,
  { carried, speaker, antecedent }: Understanding,
): Subject {
  const { form, kind, bare } = hit.cue;
  if (carried.subject === 'none') {
    const leading = leadingSubject(text.slice(0, hit.clause), speaker, antecedent);
    if (leading === 'none') return bare ? 'peer' : 'other';
    return form === 'verb' || hasBe ? leading : 'other';
  }
  const isMore = carried.cue?.form === 'state' && carried.cue.kind === kind && kind !== 'need';
  return form === 'verb' || hasBe || isMore ? carried.subject : 'other';
}

/** `Searching for investors has been tough`: what looks like a need is what is spoken of. */
function isSubject(after: string): boolean {
  return /\b(?:is|are|was|were|has|have|had|makes?|made|takes?|took|feels?|felt|will|can)\b|'s an?\b/i.test(after);
}

/** `I can no longer help with …` */
function refuses(text: string, hit: Hit): boolean {
  return hit.cue.kind === 'offer' && /\b(?:not|no longer)\b/i.test(text.slice(hit.start, hit.end));
}

/** `so I can teach others` */
function isPurpose(text: string, hit: Hit): boolean {
  return hit.cue.kind === 'offer' && /\bso(?: that)?\s+\w+\s+$/i.test(text.slice(0, hit.start));
}

const ASKING =
  /^(?:(?:and|but|so|hi|hey|hello)\b,?\s*)?(?:do|does|did|can|could|would|will|are|is|am|have|has|should|who|what|when|where|why|how|which|any|anyone)\b/i;
const TAG =
  /(?:,|\s[–—-]{1,2}|\sand|\sbut)\s*(?:so\s)?(?:can|could|do|does|would|will|are|is|any|anyone|anybody|who|know|how|what|where|right)\b/i;

/** `I need an auditor, can you help?` states before it asks. */
function isAsked(text: string, hit: Hit, isLast: boolean): boolean {
  return ASKING.test(text) || (isLast && !TAG.test(text.slice(hit.end)));
}

function noteSubject(subject: Subject, before: string, { speaker, antecedent }: Understanding): void {
  const last = /([\p{L}\p{N}_.-]+)$/u.exec(before)?.[1] ?? '';
  if (subject === 'peer' && isNamed(last, speaker)) antecedent.isPeer = true;
  if (subject === 'other' && /^\p{Lu}\p{Ll}/u.test(last) && !/^(?:He|She|They|It|You|We)$/.test(last))
    antecedent.isPeer = false;
}

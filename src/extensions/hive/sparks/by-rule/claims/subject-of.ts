// Owns who is the subject of a verb: the peer, somebody else, or nobody named. English. Knows no cue.
// Invariant: what is not understood is somebody else, so that nothing is claimed of the peer that another may have been meant by.
import { GROUP_WORDS } from '../cues/person-words.ts';
import { withoutMarkers } from './markers.ts';
import type { Antecedent, Speaker } from './speaker.ts';

export type Subject = 'peer' | 'other' | 'none';

export interface SubjectFound {
  readonly subject: Subject;
  /** What stands before the subject, or before the verb when there is none. */
  readonly lead: string;
}

const GROUP = `(?:[\\w-]+ ){0,2}?${GROUP_WORDS}`;
const FIRST = new RegExp(`(?:^|[\\s,(])(?:i|we|me|(?:my|our) ${GROUP})$`, 'i');
const THIRD = new RegExp(`(?:^|[\\s,(])(?:(he|she|they|it)|(his|her|their|its) ${GROUP})$`, 'i');
const NAMED = new RegExp(`(?:^|[\\s,(])@?([\\p{L}\\p{N}_.-]+)(?:'s ${GROUP})?(?: \\p{Lu}[\\p{L}-]+)?$`, 'iu');
const THE_AGENT = /(?:^|\s)(?:this|the) (?:agent|peer|bot|assistant)$/i;
const RELATIVE = /^(.*?),?\s*\b(?:who|which|that)$/i;

export function subjectOf(before: string, speaker: Speaker, antecedent: Antecedent): SubjectFound {
  const text = before.trim();
  if (withoutMarkers(text) === '') return { subject: 'none', lead: text };
  const relative = RELATIVE.exec(text)?.[1]?.trim();
  if (relative !== undefined && relative !== '') return ofRelative(relative, speaker, antecedent);
  if (relative === '') return { subject: /^that$/i.test(text) ? 'other' : 'none', lead: '' };
  const first = FIRST.exec(text);
  if (first !== null) return found(speaker.voice === 'self', text, first);
  const third = THIRD.exec(text);
  if (third !== null) return found(meansPeer(third[1] ?? third[2] ?? '', antecedent), text, third);
  const named = THE_AGENT.exec(text) ?? NAMED.exec(text);
  if (named === null) return { subject: 'other', lead: text };
  const isOwn = named[1] === undefined ? speaker.voice === 'introducer' : isNamed(named[1], speaker);
  return found(isOwn, text, named);
}

/** Of a clause without a verb that we know: whoever it begins with. */
export function leadingSubject(clause: string, speaker: Speaker, antecedent: Antecedent): Subject {
  const words = withoutMarkers(clause).split(' ');
  if (words[0] === '') return 'none';
  for (let count = 1; count <= 3; count += 1) {
    const begin = words.slice(0, count).join(' ').replace(/,$/, '');
    if (subjectOf(begin, speaker, antecedent).subject === 'peer') return 'peer';
  }
  return 'other';
}

/** `Carol, who …`: whoever stands before it. */
function ofRelative(head: string, speaker: Speaker, antecedent: Antecedent): SubjectFound {
  const { subject, lead } = subjectOf(head, speaker, antecedent);
  return { subject: subject === 'none' ? 'other' : subject, lead };
}

export function isNamed(name: string, { names }: Speaker): boolean {
  const word = name.toLowerCase().replace(/^@|[.-]+$/g, '');
  return names.has(word) || names.has(word.replace(/'s$/, ''));
}

function found(isPeer: boolean, text: string, { index }: RegExpExecArray): SubjectFound {
  return { subject: isPeer ? 'peer' : 'other', lead: text.slice(0, index).trim() };
}

function meansPeer(pronoun: string, antecedent: Antecedent): boolean {
  if (!antecedent.isPeer) return false;
  const gender = genderOf(pronoun.toLowerCase());
  if (gender === undefined) return true;
  antecedent.gender ??= gender;
  return antecedent.gender === gender;
}

function genderOf(pronoun: string): 'he' | 'she' | undefined {
  if (pronoun === 'he' || pronoun === 'his') return 'he';
  return pronoun === 'she' || pronoun === 'her' ? 'she' : undefined;
}

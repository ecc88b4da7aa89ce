// Owns taking an answer apart: sentence by sentence, each with the handles that it was given or marks (`[h3]`, `[h1, h2]`).
// Invariant: pure and linear; no word is lost but marks; a mark after the full stop belongs to the sentence before it.
import type { AnswerPart } from '../repl-session.ts';

const MOST_CHARACTERS = 200_000;
const MARK = /[ \t]*\[([\w.:#-]{1,64}(?:[ \t]*[,;][ \t]*[\w.:#-]{1,64}){0,31})\]/gu;
const OWN_ID = /^h\d{1,9}$/;
/** `Dr. Smith`, `e.g. this`, `No. 5`: the dot ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|(?:\p{L}\.)+\p{L}|[Ee]tc|[Mm]r|[Mm]rs|[Dd]r|[Pp]rof|[Ss]t|[Nn]o|[Nn]r|[Vv]s|[Cc]f|[Ff]ig|[Vv]ol|[Pp]p)$/u;
const END = /[.!?…。！？]+["'”’)\]]*(?=\s|$)|\n+/gu;

export interface GivenPart {
  readonly text: string;
  readonly handles: readonly string[];
}

/** @param isKnown a mark that is neither a known id nor formed like one of ours is a word of the text */
export function answerParts(given: readonly GivenPart[], isKnown: (id: string) => boolean): readonly AnswerPart[] {
  const isId = (id: string) => isKnown(id) || OWN_ID.test(id);
  let room = MOST_CHARACTERS;
  return given.flatMap(({ text, handles }) => {
    const kept = text.slice(0, room);
    room -= kept.length;
    const own = handles.map(plainId);
    return sentencesOf(kept, isId).map((sentence) => withMarks(sentence, own, isId));
  });
}

function plainId(id: string): string {
  return (/^\[([^\]]*)\]$/.exec(id)?.[1] ?? id).slice(0, 64);
}

function withMarks(sentence: string, own: readonly string[], isId: (id: string) => boolean): AnswerPart {
  const handles = new Set(own);
  const text = sentence.replace(MARK, (mark, list: string) => {
    const ids = list.split(/[,;]/).map((id) => id.trim());
    if (!ids.every(isId)) return mark;
    for (const id of ids) handles.add(id);
    return '';
  });
  return { text: text.trim(), handles: [...handles] };
}

function sentencesOf(text: string, isId: (id: string) => boolean): readonly string[] {
  const sentences: string[] = [];
  let begin = 0;
  for (const found of text.matchAll(END)) {
    if (found[0].startsWith('.') && ABBREVIATION.test(text.slice(Math.max(begin, found.index - 12), found.index)))
      continue;
    const end = afterMarks(text, found.index + found[0].length, isId);
    if (end <= begin) continue;
    sentences.push(text.slice(begin, end));
    begin = end;
  }
  sentences.push(text.slice(begin));
  return joined(sentences.map((sentence) => sentence.trim()).filter((sentence) => sentence !== ''));
}

function afterMarks(text: string, from: number, isId: (id: string) => boolean): number {
  let end = from;
  for (const sticky = new RegExp(MARK.source, 'uy'); ; ) {
    sticky.lastIndex = end;
    const found = sticky.exec(text);
    if (found === null || !(found[1] ?? '').split(/[,;]/).every((id) => isId(id.trim()))) return end;
    end = sticky.lastIndex;
  }
}

/** What has no letter and no digit but marks is no sentence of its own: bullets, rules. */
function joined(sentences: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const sentence of sentences) {
    const last = kept.length - 1;
    const isEmpty = !/[\p{L}\p{N}]/u.test(sentence.replace(MARK, ''));
    if (isEmpty && last >= 0) kept[last] = `${kept[last]} ${sentence}`;
    else kept.push(sentence);
  }
  return kept;
}

// Owns taking an answer apart: sentence by sentence, each with the handles that it was given or marks (`[h3]`, `[h1, h2]`).
// Cut by the cutter that the gate uses. Invariant: pure and linear; a mark after the full stop belongs to the sentence before it.
import { cutPassages, cutSentences } from '../../text/cut-passages.ts';
import type { AnswerPart } from '../repl-session.ts';

const MOST_CHARACTERS = 200_000;
const MARK = /[ \t]*\[([\w.:#-]{1,64}(?:[ \t]*[,;][ \t]*[\w.:#-]{1,64}){0,31})\]/gu;
const OWN_ID = /^h\d{1,9}$/;

/** @param isKnown a mark that is neither a known id nor formed like one of ours is a word of the text */
export function answerParts(given: readonly AnswerPart[], isKnown: (id: string) => boolean): readonly AnswerPart[] {
  const isId = (id: string) => isKnown(id) || OWN_ID.test(id);
  let room = MOST_CHARACTERS;
  return given.flatMap(({ text, handles }) => {
    const kept = text.slice(0, room);
    room -= kept.length;
    const own = handles.map((id) => (/^\[([^\]]*)\]$/.exec(id)?.[1] ?? id).slice(0, 64));
    return sentencesOf(kept, own, isId);
  });
}

function sentencesOf(given: string, own: readonly string[], isId: (id: string) => boolean): readonly AnswerPart[] {
  const marks: { readonly at: number; readonly ids: readonly string[] }[] = [];
  let taken = 0;
  const text = given.replace(MARK, (mark, list: string, index: number) => {
    const ids = list.split(/[,;]/).map((id) => id.trim());
    if (!ids.every(isId)) return mark;
    marks.push({ at: index - taken, ids });
    taken += mark.length;
    return '';
  });
  const cut = cutPassages(text).flatMap((passage) =>
    passage.kind === 'code' ? [passage] : cutSentences(text, passage),
  );
  const said = cut.filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(start, end)));
  return said.map(({ start, end }, at) => {
    const from = at === 0 ? -1 : start;
    const to = said[at + 1]?.start ?? Number.POSITIVE_INFINITY;
    const cited = marks.filter((mark) => from < mark.at && mark.at <= to).flatMap(({ ids }) => ids);
    return { text: text.slice(start, end).replace(/\s+/g, ' '), handles: [...new Set([...own, ...cited])] };
  });
}

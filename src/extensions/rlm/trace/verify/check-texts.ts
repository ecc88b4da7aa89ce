// Owns whether the texts that a run read are kept as they were hashed: every `text_hash` of its request and events. Pure.
import { namedTexts } from '../named-texts.ts';
import type { RunRecord } from '../run-record.ts';
import { textHash } from '../text-hash.ts';
import { type Problem, problem } from './problem.ts';

export function checkTexts({ row, events, textOf }: Pick<RunRecord, 'row' | 'events' | 'textOf'>): readonly Problem[] {
  return [...namedTexts({ row, events })].flatMap(([hash, where]) => {
    const text = textOf(hash);
    if (text === undefined) return [problem('text-missing', where, `The text ${short(hash)} is not kept.`)];
    return textHash(text) === hash ? [] : [problem('text-hash', where, `The text ${short(hash)} is another now.`)];
  });
}

function short(hash: string): string {
  return hash.slice(0, 15);
}

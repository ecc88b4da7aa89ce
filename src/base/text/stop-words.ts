// Owns the words that say nothing about what a message is about: they are neither indexed nor asked for. Data, English.
import { stemWord } from './stem-word.ts';

const WORDS = `
  a about after again against all also am an and any are as ask asked at be because been before being below between both but by can
  could d did do does doing done dont during each few for from further get got had has have having he her here hers him his how i if im
  in into is it its itself ive just kind ll lot m me mention mentioned might mine more most must my no nor not now of off on once one only
  or other our ours out over own re really s said same say shall she should so some something such t talk tell than that thats the their
  theirs them then there these they thing this those through to told too type under until up ve very was we were what when where which
  while who whom whose why will with would you your youre yours
`;

const stems: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/).map(stemWord));

export function isStopStem(stem: string): boolean {
  return stems.has(stem);
}

// Owns the decision of one turn: which line is meant, which rules it is of, and the step that follows.
// Stateless: the conversation's own messages are the only memory. Knows no tool.
// Invariant: nothing is called unless the line is exactly of one form, or the owner picked it from our own question (reflex 8).
import {
  type ReflexInput,
  type ReflexMatch,
  type ReflexQuestion,
  type ReflexRule,
  type ReflexStep,
  SAME_FILE,
} from '#core/agent/reflex-rule.ts';
import { isText, type Message, messageText, type TextPart, type ToolResultPart } from '#core/model/message.ts';
import { REFLEX_ID, readAnswer, renderStep } from './answer.ts';
import { folderSuggestions } from './folder.ts';
import { fitForms } from './form.ts';
import { readLine, type Token } from './read-line.ts';
import { TEXTS } from './words.ts';

export interface ReflexTurn {
  readonly messages: readonly Message[];
  readonly surroundings: Omit<ReflexSurroundings, 'history'>;
  readonly rules: readonly ReflexRule[];
}

/** A turn makes at most this many calls: long files are read in pages. */
const MAX_RESULTS = 40;
const MAX_CHOICES = 4;
/** Questions in a row that an answer is traced back through. */
const MAX_DEPTH = 4;

export function decideTurn(turn: ReflexTurn, depth = 0): ReflexStep {
  const place = turn.messages.findLastIndex((message) => message.role === 'user');
  const text = ownerLine(turn.messages[place]);
  const done = turn.messages.slice(place + 1);
  const results = done.flatMap((message) => (message.role === 'tool' ? message.parts : []));
  if (results.length > MAX_RESULTS) return { type: 'say', text: TEXTS.tooManySteps };
  const history = turn.messages.slice(0, place);
  const piped = pipedPart(turn.messages[place]);
  const before: readonly Message[] = piped === undefined ? history : [...history, { role: 'user', parts: [piped] }];
  const surroundings = { ...turn.surroundings, history: before };
  const playing = { turn, results, now: [...before, ...turn.messages.slice(place)] };
  const question = depth < MAX_DEPTH ? openQuestion({ ...turn, messages: history }, depth) : undefined;
  const answer = question === undefined ? undefined : readAnswer(text, question);
  if (answer?.type === 'none') return { type: 'say', text: TEXTS.nothingDone };
  const plain = reflexInput(text, surroundings);
  if (answer?.type === 'choice') {
    const input = reflexInput(
      answer.line,
      surroundings,
      question?.confirms === true || question?.question === TEXTS.confirm,
    );
    return chosenStep(playing, input);
  }
  const ranked = rankRules(turn.rules, plain);
  if (answer?.type === 'fill' && (ranked[0]?.match.score ?? 0) < THRESHOLDS.act) {
    const input = reflexInput(answer.line, surroundings);
    return stepOf(playing, input, rankRules(turn.rules, input));
  }
  return stepOf(playing, plain, ranked);
}

/** The words that the owner typed: no context, no piped text, no notice of ours. */
function ownerLine(message: Message | undefined): string {
  if (message?.role !== 'user') return '';
  const typed = message.parts
    .filter(isText)
    .filter((part) => part.origin === 'owner' && (part.label === undefined || part.label === 'steer'));
  return typed
    .map((part) => part.text)
    .join('\n')
    .trim();
}

/** What was piped in with the line, where tools can look at it: the line is about it. */
function pipedPart(message: Message | undefined): TextPart | undefined {
  if (message?.role !== 'user') return undefined;
  return message.parts.filter(isText).find(({ label, spill }) => label === 'stdin' && spill !== undefined);
}

/** Our question that ended the turn before, derived again rather than read: quoted text can never pose as one. */
export function openQuestion(turn: ReflexTurn, depth = 0): ReflexQuestion | undefined {
  const last = turn.messages.at(-1);
  if (last?.role !== 'assistant' || last.model !== REFLEX_ID || !/^\d\) /m.test(messageText(last))) return undefined;
  const step = decideTurn({ ...turn, messages: turn.messages.slice(0, -1) }, depth + 1);
  return step.type === 'ask' && renderStep(step) === messageText(last) ? step : undefined;
}

interface Playing {
  readonly turn: ReflexTurn;
  readonly results: readonly ToolResultPart[];
  /** All messages so far, this turn's included. */
  readonly now: readonly Message[];
}

/** As our own choices join several orders. */
const JOINT = /; then /;

/** The owner picked this line: only its best rule counts. */
function chosenStep(playing: Playing, input: ReflexInput): ReflexStep {
  const ranked = rankRules(playing.turn.rules, input);
  const parts = JOINT.test(input.text) || !isClear(ranked) ? splitParts(playing.turn.rules, input) : undefined;
  const [best] = ranked;
  if (parts !== undefined && parts.left === undefined) return playParts(playing, parts.parts);
  return best === undefined ? refuse(input) : play(playing, { ...best, input });
}

function stepOf(playing: Playing, input: ReflexInput, ranked: readonly RankedRule[]): ReflexStep {
  const [best] = ranked;
  const parts = splitParts(playing.turn.rules, input);
  if (best === undefined || !isClear(ranked)) {
    if (parts !== undefined) return partialStep(playing, parts);
    return best === undefined ? refuse(input) : askOf(ranked, best, input, playing);
  }
  if (parts === undefined || parts.left !== undefined) return play(playing, { ...best, input });
  // The whole is of one form, its parts of several: only what merely looks is cut without a question.
  if (best.rule.effect === 'read') return playParts(playing, parts.parts);
  const both = parts.parts.map(({ rule, match }) => rule.restate(match)).join('; then ');
  return { type: 'ask', question: TEXTS.which, choices: [best.rule.restate(best.match), both] };
}

/** As long as a part is not understood nothing is done: it may be about the rest. */
function partialStep(playing: Playing, parts: LineParts): ReflexStep {
  const { left } = parts;
  if (left === undefined) return playParts(playing, parts.parts);
  const choices = parts.parts.map(({ rule, match }) => rule.restate(match)).slice(0, MAX_CHOICES);
  return { type: 'ask', question: `${TEXTS.notAll.replace('{}', () => left)}\n${TEXTS.which}`, choices };
}

function askOf(ranked: readonly RankedRule[], best: RankedRule, input: ReflexInput, playing: Playing): ReflexStep {
  const rivals = rivalsOf(best, ranked, input);
  const acts = best.match.score >= THRESHOLDS.act;
  if (rivals.length > 1) return { type: 'ask', question: TEXTS.which, choices: restated(rivals) };
  if (best.match.missing !== undefined) return askMissing(best, input);
  return acts ? play(playing, { ...best, input }) : { type: 'ask', question: TEXTS.confirm, choices: restated([best]) };
}

/** Rules that score alike and would do something else. */
function rivalsOf(best: RankedRule, ranked: readonly RankedRule[], input: ReflexInput): readonly RankedRule[] {
  const first = firstStep(best, input);
  return ranked.filter(
    (other) => other === best || (other.match.score === best.match.score && firstStep(other, input) !== first),
  );
}

function firstStep({ rule, match }: RankedRule, input: ReflexInput): string {
  return match.missing === undefined ? JSON.stringify(rule.act(match, input, [])) : `missing ${rule.intent}`;
}

function askMissing({ rule, match }: RankedRule, input: ReflexInput): ReflexStep {
  const asked = rule.missing?.(match, input);
  return asked ?? { type: 'ask', question: TEXTS.confirm, choices: rule.examples.slice(0, MAX_CHOICES) };
}

function restated(ranked: readonly RankedRule[]): readonly string[] {
  return [...new Set(ranked.map(({ rule, match }) => rule.restate(match)))].slice(0, MAX_CHOICES);
}

function refuse({ folder }: ReflexInput): ReflexStep {
  const works = folderSuggestions(folder).join(' · ');
  return { type: 'say', text: `${TEXTS.refusal}\n${TEXTS.works.replace('{}', () => works)}` };
}

function play(playing: Playing, part: LinePart): ReflexStep {
  return playParts(playing, [part]);
}

/** One part after the other, each with the results of its own calls; what a failure or a question leaves is said. */
function playParts({ turn, results, now }: Playing, parts: readonly LinePart[]): ReflexStep {
  const said: Exclude<ReflexStep, { type: 'call' }>[] = [];
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const later = parts.slice(index + 1).map(({ rule, match }) => rule.restate(match));
    const own = results.slice(from);
    const input = index === 0 ? part.input : { ...part.input, history: now };
    const { step, taken } = actPart({ ...part, input }, own);
    if (step.type === 'call') return withTools(step, turn);
    if (step.type === 'ask') return withBefore(said, step, later);
    said.push(step);
    if (later.length > 0 && own.slice(0, taken).some(failed))
      return joinSaid([...said, { type: 'say', text: TEXTS.leftFailed.replace('{}', () => later.join('; ')) }]);
    from += taken;
  }
  return joinSaid(said);
}

/** The step that follows from the results that its own calls have so far. */
function actPart({ rule, match, input }: LinePart, results: readonly ToolResultPart[]) {
  let taken = 0;
  let step = rule.act(match, input, []);
  while (step.type === 'call' && taken < results.length) {
    taken += step.calls.length;
    step = rule.act(match, input, results.slice(0, taken));
  }
  return { step, taken };
}

function failed({ isError, observed }: ToolResultPart): boolean {
  return isError || observed.refused !== undefined || (observed.exitCode ?? 0) !== 0;
}

function joinSaid(said: readonly Exclude<ReflexStep, { type: 'call' }>[]): ReflexStep {
  const [only, ...more] = said;
  if (only !== undefined && more.length === 0) return only;
  const texts = said.map(renderStep).filter((text) => text !== '');
  return { type: 'say', text: texts.join('\n\n') };
}

function withBefore(
  said: readonly Exclude<ReflexStep, { type: 'call' }>[],
  step: ReflexQuestion,
  later: readonly string[],
): ReflexStep {
  const left = later.length === 0 ? [] : [TEXTS.left.replace('{}', () => later.join('; '))];
  return { ...step, question: [...said.map(renderStep), ...left, step.question].join('\n') };
}

function withTools(step: Extract<ReflexStep, { type: 'call' }>, { surroundings }: ReflexTurn): ReflexStep {
  const absent = step.calls.find((call) => !surroundings.tools.has(call.name));
  return absent === undefined ? step : { type: 'say', text: TEXTS.toolMissing.replace('{}', absent.name) };
}

// Which rules a line is of, and the parts of a line with more than one verb.
// Knows no rule and no turn. Invariant: a part counts only when it is of a form by itself; the words of a free text are never cut off it silently.

/** `act`: from here a rule acts; `change`: from here one that may change something does; below, the owner is asked. */
export const THRESHOLDS = { act: 0.6, change: 0.92, ask: 0.35 } as const;
const ASKED = 0.5;

interface RankedRule {
  readonly rule: ReflexRule;
  readonly match: ReflexMatch;
}

type ReflexSurroundings = Omit<ReflexInput, 'text' | 'words' | 'confirmed' | 'fit'>;

export function reflexInput(text: string, surroundings: ReflexSurroundings, confirmed = false): ReflexInput {
  const line = readLine(text);
  const { tokens } = line;
  return {
    ...surroundings,
    text,
    words: text.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0),
    confirmed,
    fit: (forms) => fitForms(forms, line, surroundings.folder),
  };
}

/** Best first. */
export function rankRules(rules: readonly ReflexRule[], input: ReflexInput): readonly RankedRule[] {
  const { isQuestion } = readLine(input.text);
  const ranked = rules.flatMap((rule) => {
    const match = rule.match(input);
    if (match === undefined || match.score < THRESHOLDS.ask) return [];
    const mayChange = (rule.effect ?? 'write') !== 'read' && match.missing === undefined && !input.confirmed;
    const isDoubtful = mayChange && (isQuestion || match.score < THRESHOLDS.change);
    return [{ rule, match: isDoubtful ? { ...match, score: Math.min(match.score, ASKED) } : match }];
  });
  return ranked.sort((left, right) => right.match.score - left.match.score);
}

/** Does exactly one thing follow from it? */
function isClear([first, second]: readonly RankedRule[]): boolean {
  if (first === undefined || first.match.score < THRESHOLDS.act || first.match.missing !== undefined) return false;
  return second === undefined || second.match.score < first.match.score;
}

interface LinePart extends RankedRule {
  readonly input: ReflexInput;
}

interface LineParts {
  readonly parts: readonly LinePart[];
  /** What stands behind them and is of no form. */
  readonly left?: string;
}

const MOST_PARTS = 5;
/** An order with a joint behind so many words is a story. */
const MOST_WORDS = 40;
/** Words that a verb before them also governs: `read a.md and b.md`. */
const SHARED_VERB = 3;

/** A line with several verbs as its parts; undefined when its first words up to any joint are of no form. */
function splitParts(rules: readonly ReflexRule[], input: ReflexInput, depth = MOST_PARTS): LineParts | undefined {
  if (depth === 0) return undefined;
  const { tokens } = readLine(input.text);
  let remainder: LineParts | undefined;
  for (const [before, after] of joints(tokens)) {
    const here = partOf(rules, input, input.text.slice(0, before));
    if (here === undefined) continue;
    const rest = input.text.slice(after).replace(/\?\s*$/, '');
    const next = partsOf(rules, input, rest, depth - 1) ?? sharedVerb(rules, input, here, rest);
    if (next !== undefined) return { ...next, parts: [here, ...next.parts] };
    remainder ??= { parts: [here], left: rest.trim() };
  }
  return remainder;
}

function partsOf(rules: readonly ReflexRule[], input: ReflexInput, text: string, depth: number): LineParts | undefined {
  const whole = partOf(rules, input, text);
  return whole === undefined ? splitParts(rules, reflexInput(text, input), depth) : { parts: [whole] };
}

function sharedVerb(
  rules: readonly ReflexRule[],
  input: ReflexInput,
  first: LinePart,
  rest: string,
): LineParts | undefined {
  const { tokens } = readLine(rest);
  if (first.rule.effect !== 'read' || tokens.length > SHARED_VERB) return undefined;
  const verb = readLine(first.input.text).tokens[0]?.raw ?? '';
  const part = partOf(rules, input, `${verb} ${rest}`);
  return part?.rule === first.rule ? { parts: [part] } : undefined;
}

function partOf(rules: readonly ReflexRule[], around: ReflexInput, text: string): LinePart | undefined {
  const input = reflexInput(text, around);
  const ranked = rankRules(rules, input).map(aboutPartBefore);
  const [best] = ranked;
  return best !== undefined && isClear(ranked) ? { ...best, input } : undefined;
}

/** `it` is the file of the part before, known once that part is done; alone it asks. */
function aboutPartBefore({ rule, match }: RankedRule): RankedRule {
  const { missing, ...known } = match;
  return { rule, match: missing === 'path' && match.slots.path === SAME_FILE ? known : match };
}

/** Where one order may end and the next begin: `and`, `then`, `;`, a full stop. */
function joints(tokens: readonly Token[]): readonly (readonly [before: number, after: number])[] {
  return tokens.slice(0, MOST_WORDS).flatMap((token, at) => {
    const isJoint =
      token.kind === 'mark'
        ? /^[;,.]+$/.test(token.word)
        : token.kind === 'word' && /^(?:and|then|&|plus|but)$/.test(token.word);
    let next = at + 1;
    while (/^(?:and|then|also|after|that|&)$/.test(tokens[next]?.word ?? '') && tokens[next]?.kind === 'word')
      next += 1;
    const after = tokens[next];
    return isJoint && at > 0 && after !== undefined && token.word !== 'but'
      ? [[token.start, after.start] as const]
      : [];
  });
}

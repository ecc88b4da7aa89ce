// Owns the decision of one turn: which line is meant, which rule it matches, and the step that follows.
// Stateless: the conversation's own messages are the only memory. Knows no tool.
// Invariant: nothing is called unless one rule stands clear of the others, or the owner picked it from our own question (reflex 8).
import type { ReflexInput, ReflexQuestion, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type Message, messageText, type TextPart, type ToolResultPart } from '#core/model/message.ts';
import type { Language } from './language.ts';
import { type RankedRule, type ReflexSurroundings, rankRules, reflexInput, THRESHOLDS } from './rank-rules.ts';
import { readAnswer } from './read-answer.ts';
import { renderStep } from './render-step.ts';

export interface ReflexTurn {
  readonly messages: readonly Message[];
  readonly surroundings: Omit<ReflexSurroundings, 'history'>;
  readonly rules: readonly ReflexRule[];
  readonly language: Language;
}

export const REFLEX_ID = 'reflex/1';

/** A turn makes at most this many calls: long files are read in pages. */
const MAX_RESULTS = 40;
const MAX_CHOICES = 4;
/** Questions in a row that an answer is traced back through. */
const MAX_DEPTH = 4;

export function decideTurn(given: ReflexTurn, depth = 0): ReflexStep {
  const place = given.messages.findLastIndex((message) => message.role === 'user');
  const piped = pipedPart(given.messages[place]);
  const turn = piped === undefined ? given : { ...given, language: aboutPiped(given.language) };
  const text = ownerLine(turn.messages[place]);
  if (text === '') return { type: 'say', text: turn.language.templates.refusal };
  const history = turn.messages.slice(0, place);
  const results = turn.messages.slice(place + 1).flatMap((message) => (message.role === 'tool' ? message.parts : []));
  const before: readonly Message[] = piped === undefined ? history : [...history, { role: 'user', parts: [piped] }];
  const surroundings = { ...turn.surroundings, history: before };
  const plain = reflexInput(text, surroundings, turn.language);
  const question = depth < MAX_DEPTH ? openQuestion({ ...turn, messages: history }, depth) : undefined;
  const answer = question === undefined ? undefined : readAnswer(text, question, turn.language);
  if (answer?.type === 'none') return { type: 'say', text: turn.language.templates.nothingDone };
  if (question !== undefined && answer?.type === 'choice') {
    const confirmed = question.confirms === true;
    return follow(turn, reflexInput(answer.line, surroundings, turn.language, confirmed), { results, chosen: true });
  }
  const ranked = rankRules(turn.rules, plain, turn.language);
  if (answer?.type === 'fill' && !acts(ranked)) {
    return follow(turn, reflexInput(answer.line, surroundings, turn.language), { results, chosen: false });
  }
  return stepOf(turn, ranked, { input: plain, results, chosen: false });
}

/** The words that the owner typed: no context, no piped text, no notice of ours. */
export function ownerLine(message: Message | undefined): string {
  if (message?.role !== 'user') return '';
  const typed = message.parts.filter(
    (part) => part.origin === 'owner' && (part.label === undefined || part.label === 'steer'),
  );
  return typed
    .map((part) => part.text)
    .join('\n')
    .trim();
}

/** What was piped in with the line, where tools can look at it: the line is about it. */
function pipedPart(message: Message | undefined): TextPart | undefined {
  if (message?.role !== 'user') return undefined;
  return message.parts.find(({ label, spill }) => label === 'stdin' && spill !== undefined);
}

const pipedLanguages = new WeakMap<Language, Language>();

/** The language with the words for what was piped in among those for the file that the talk is about. */
function aboutPiped(language: Language): Language {
  const known = pipedLanguages.get(language);
  if (known !== undefined) return known;
  const { slots } = language;
  const made = { ...language, slots: { ...slots, sameFile: [...slots.sameFile, ...slots.pipedFile] } };
  pipedLanguages.set(language, made);
  return made;
}

/** Our question that ended the turn before, derived again rather than read: quoted text can never pose as one. */
export function openQuestion(turn: ReflexTurn, depth = 0): ReflexQuestion | undefined {
  const last = turn.messages.at(-1);
  if (last?.role !== 'assistant' || last.model !== REFLEX_ID) return undefined;
  if (!/^\d\) /m.test(messageText(last))) return undefined;
  const step = decideTurn({ ...turn, messages: turn.messages.slice(0, -1) }, depth + 1);
  return step.type === 'ask' && renderStep(step, turn.language) === messageText(last) ? step : undefined;
}

interface Following {
  readonly results: readonly ToolResultPart[];
  /** The owner picked this line: only its best rule counts. */
  readonly chosen: boolean;
}

function follow(turn: ReflexTurn, input: ReflexInput, following: Following): ReflexStep {
  return stepOf(turn, rankRules(turn.rules, input, turn.language), { input, ...following });
}

function acts(ranked: readonly RankedRule[]): boolean {
  return (ranked[0]?.match.score ?? 0) >= THRESHOLDS.act;
}

function stepOf(
  turn: ReflexTurn,
  ranked: readonly RankedRule[],
  at: Following & { readonly input: ReflexInput },
): ReflexStep {
  const { templates } = turn.language;
  const best = ranked[0];
  if (best === undefined) return { type: 'say', text: templates.refusal };
  if (at.results.length > MAX_RESULTS) return { type: 'say', text: templates.tooManySteps };
  const rivals = at.chosen ? [best] : rivalsOf(best, ranked, at.input);
  if (rivals.length > 1) return { type: 'ask', question: templates.which, choices: restated(rivals) };
  if (!acts(ranked) && !at.chosen) return { type: 'ask', question: templates.confirmGuess, choices: restated(ranked) };
  if (best.match.missing !== undefined) return askMissing(best, at.input, templates.confirmGuess);
  return withTools(best.rule.act(best.match, at.input, at.results), turn);
}

/** Rules within the margin that would do something else than the best one. */
function rivalsOf(best: RankedRule, ranked: readonly RankedRule[], input: ReflexInput): readonly RankedRule[] {
  const first = firstStep(best, input);
  return ranked.filter((other) => {
    if (other === best) return true;
    return best.match.score - other.match.score <= THRESHOLDS.margin && firstStep(other, input) !== first;
  });
}

function firstStep({ rule, match }: RankedRule, input: ReflexInput): string {
  return match.missing === undefined ? JSON.stringify(rule.act(match, input, [])) : `missing ${rule.intent}`;
}

function askMissing(best: RankedRule, input: ReflexInput, fallback: string): ReflexStep {
  return (
    best.rule.missing?.(best.match, input) ?? {
      type: 'ask',
      question: fallback,
      choices: best.rule.examples.slice(0, MAX_CHOICES),
    }
  );
}

function restated(ranked: readonly RankedRule[]): readonly string[] {
  const lines = ranked.map(({ rule, match }) => rule.restate(match));
  return [...new Set(lines)].slice(0, MAX_CHOICES);
}

function withTools(step: ReflexStep, turn: ReflexTurn): ReflexStep {
  if (step.type !== 'call') return step;
  const absent = step.calls.find((call) => !turn.surroundings.tools.has(call.name));
  if (absent === undefined) return step;
  return { type: 'say', text: turn.language.templates.toolMissing.replace('{}', absent.name) };
}

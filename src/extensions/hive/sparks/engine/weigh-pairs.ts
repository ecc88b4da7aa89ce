// Owns the sparks of one run: waiting pairs are weighed, best fit first, and what fits is stored as a suggestion (seed 004, spark detector).
// Knows no model and no protocol. Invariant: at most ten questions to a model a run; one spark a pair for ever; nobody is introduced here.
import { throwIfAborted } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
import { newSpark } from '../../peers/new-spark.ts';
import { openSparks } from '../../peers/open-sparks.ts';
import { pairKey, pairOf } from '../../peers/pair-key.ts';
import type { Spark } from '../../peers/peer.ts';
import { evaluateByRule } from '../by-rule/evaluate-by-rule.ts';
import { pairInput } from '../pairs/pair-input.ts';
import { PAIR_PROMPT } from '../pairs/pair-prompt.ts';
import { type Evaluation, PAIR_CAPS } from '../pairs/pair-shape.ts';
import type { Pair } from '../pairs/rank-pairs.ts';
import { readEvaluation } from '../pairs/read-evaluation.ts';
import { type EngineRun, inferOnce } from './engine-parts.ts';
import { pairsToWeigh } from './wait-pairs.ts';

const MOST_BY_MODEL = 10;
const MOST_BY_RULE = 200;
/** Suggestions that may wait for the owner; with more, no pair is weighed. */
const MOST_PENDING = 100;

export async function weighPairs(run: EngineRun, signal: AbortSignal): Promise<void> {
  const { transport, memory } = run;
  await storeSparks(run, signal);
  let pending = openSparks(transport.peers(), transport.sparks()).length;
  const spent = { model: 0, rule: 0 };
  for (const pair of pairsToWeigh(transport, memory)) {
    throwIfAborted(signal);
    if (spent.model === MOST_BY_MODEL || spent.rule === MOST_BY_RULE || pending >= MOST_PENDING) break;
    const weighed = await weigh(run, { pair, isRuled: spent.rule > 0 }, signal);
    if (weighed === 'failed') break;
    spent[weighed.by] += 1;
    memory.waiting.delete(pairKey(pair[0].peer.id, pair[1].peer.id));
    if (!fits(weighed.evaluation)) continue;
    pending += 1;
    memory.unsaved.push(sparkOf(run, pair, weighed));
    // A model's next answer may take long; the rule's is there at once.
    if (weighed.by === 'model') await storeSparks(run, signal);
  }
  await storeSparks(run, signal);
}

interface Weighed {
  readonly by: Spark['by'];
  /** Absent: the answer could not be read. */
  readonly evaluation?: Evaluation;
}

interface Question {
  readonly pair: Pair;
  /** In this run the rule has answered already: nobody else will. */
  readonly isRuled: boolean;
}

async function weigh(run: EngineRun, { pair, isRuled }: Question, signal: AbortSignal): Promise<Weighed | 'failed'> {
  const input = pairInput(...pair);
  if (isRuled) return { by: 'rule', evaluation: evaluateByRule(input) };
  const names = `${pair[0].peer.id} and ${pair[1].peer.id}`;
  const request = { kind: 'spark', system: PAIR_PROMPT, input, maxOutputTokens: PAIR_CAPS.tokens } as const;
  try {
    const reply = await inferOnce(run, request, signal);
    const by = reply.byRule ? 'rule' : 'model';
    const evaluation = readEvaluation(reply.text);
    if (evaluation.ok) return { by, evaluation: evaluation.value };
    run.warn(`${names} could not be weighed: ${evaluation.detail}`);
    return { by };
  } catch (error) {
    throwIfAborted(signal);
    run.warn(`${names} could not be weighed: ${errorText(error)}`);
    return 'failed';
  }
}

function fits(evaluation: Evaluation | undefined): boolean {
  return evaluation?.should_introduce === true && evaluation.confidence !== 'low';
}

function sparkOf({ clock }: EngineRun, [a, b]: Pair, { evaluation, by }: Weighed): Spark {
  const { reason = '', confidence = 'low' } = evaluation ?? {};
  return newSpark(clock, [a.peer, b.peer], { reason, confidence, status: 'pending', by });
}

/** What cannot be stored waits for the next run. */
async function storeSparks({ transport, memory, warn }: EngineRun, signal: AbortSignal): Promise<void> {
  const found = [...memory.unsaved];
  if (found.length === 0) return;
  try {
    await transport.changeSparks((kept) => withNew(kept, found), signal);
    memory.unsaved.splice(0, found.length);
  } catch (error) {
    throwIfAborted(signal);
    warn(`suggestions could not be stored: ${errorText(error)}`);
  }
}

/** Another process, or the owner, may have settled the pair meanwhile. */
function withNew(kept: readonly Spark[], found: readonly Spark[]): readonly Spark[] {
  const settled = new Set(kept.map(pairOf));
  return [...kept, ...found.filter((spark) => !settled.has(pairOf(spark)))];
}

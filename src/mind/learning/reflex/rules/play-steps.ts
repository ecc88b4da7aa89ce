// Owns playing recorded steps: one call after the other, each approved as any call, until one fails. Knows no source of steps.
// Invariants: what writes or deletes is asked about once, with every step shown (reflex 8); nothing runs after a failed step.
import type { ReflexInput, ReflexQuote, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { quoteCommand, quoteResult } from '#core/tools/reflex/answers.ts';
import { commandRisk } from '#core/tools/reflex/command/command-risk.ts';
import { textArgument } from '../../counters/done-calls.ts';
import type { CallStep } from '../procedure/step.ts';
import { shortStep } from '../procedure/trace.ts';
import { fill, texts } from './english.ts';

export interface Play {
  /** What is replayed, for people. */
  readonly title: string;
  readonly steps: readonly CallStep[];
  /** Results of the steps so far. */
  readonly results: readonly ToolResultPart[];
  readonly input: Pick<ReflexInput, 'confirmed'>;
  /** The line that starts this play, for the question before it. */
  readonly line: string;
  /** Ask before the first step, whatever the steps are. */
  readonly alwaysAsk?: boolean;
}

const READS: ReadonlySet<string> = new Set([
  'read_file',
  'search_files',
  'session_search',
  'skill_view',
  'skills_list',
  'web_fetch',
]);

export function playSteps(play: Play): ReflexStep {
  const { steps, results, title } = play;
  const last = results.at(-1);
  if (last !== undefined && failed(last)) {
    return { type: 'say', text: fill(texts.stopped, results.length, steps.length), quotes: quotesOf(play) };
  }
  if (results.length === 0 && !play.input.confirmed && (play.alwaysAsk === true || steps.some(mayWrite))) {
    const shown = steps.map((step, index) => `  ${index + 1}. ${shortStep(step).replace(/\s*\n\s*/g, ' ⏎ ')}`);
    return {
      type: 'ask',
      question: [fill(texts.replay, title), ...shown].join('\n'),
      choices: [play.line],
      confirms: true,
    };
  }
  const next = steps[results.length];
  if (next !== undefined) return { type: 'call', calls: [{ name: next.tool, arguments: next.arguments }] };
  return { type: 'say', text: fill(texts.replayed, title, results.length, steps.length), quotes: quotesOf(play) };
}

function failed({ isError, observed }: ToolResultPart): boolean {
  return isError || observed.refused !== undefined || (observed.exitCode ?? 0) !== 0;
}

function mayWrite({ tool, arguments: given }: CallStep): boolean {
  return tool === 'terminal' ? commandRisk(textArgument(given, 'command')) !== undefined : !READS.has(tool);
}

function quotesOf({ steps, results }: Play): readonly ReflexQuote[] {
  return results.flatMap((result, index) => {
    const step = steps[index];
    const said =
      step?.tool === 'terminal'
        ? quoteCommand(textArgument(step.arguments, 'command'), result)
        : quoteResult(step ? shortStep(step) : result.name, result);
    return said.type === 'say'
      ? (said.quotes ?? []).map((quote) => ({ ...quote, source: `${index + 1}. ${quote.source}` }))
      : [];
  });
}

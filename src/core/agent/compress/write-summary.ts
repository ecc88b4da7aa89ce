// Owns the one model call of a compression: transcript in, worded sections out. Knows no store and no conversation.
// Invariant: an answer without a known section is a failure, never a summary; the earlier summary is shown and never rewritten.

import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { estimateTokens, headTail } from '#base/text.ts';
import { imageNote, type Message, messageText, type Part, type TextPart } from '#core/model/message.ts';
import { type ModelClient, ModelError, type ModelRequest } from '#core/model/model-client.ts';
import { SUMMARY_PROMPT } from '../prompts.rules.ts';
import type { StoredMessage } from '../session-store.ts';
import type { SpanRecorder } from '../turn/hook-runner.ts';
import { runStep, type StepResult } from '../turn/run-step.ts';
import type { CompressionPlan, Worded } from './plan-compression.ts';
import { type SectionName, type Sections, type Summary, WORDED, type WordedSection } from './summary.ts';

export interface SummaryWriter {
  readonly client: ModelClient;
  readonly clock: Clock;
  readonly spans: SpanRecorder;
}

const LIMIT_MS = 120_000;
/** Of the writer's window the transcript takes at most so much. */
const TRANSCRIPT_SHARE = 0.6;
/** Thoughts of the writer count here too; the record itself is cut to its budget later. */
const OUTPUT = { least: 1_500, most: 6_000 };

/** Refusal `summary-failed` says why. Rejects only with the signal's reason. */
export async function writeSummary(
  plan: CompressionPlan,
  writer: SummaryWriter,
  signal: AbortSignal,
): Promise<Result<Worded, 'summary-failed'>> {
  const tooSlow = () => new ModelError(`no summary after ${LIMIT_MS / 1000} s`, { code: 'model-timeout' });
  const limit = deadline(writer.clock, signal, LIMIT_MS, tooSlow);
  const span = writer.spans.start('step', writer.client.id);
  const { tier } = writer.client;
  try {
    const { message, finish } = await collect(requestFor(plan, writer.client), writer, limit.signal);
    const { usage, cost, model } = finish;
    span.end('ok', { purpose: 'compress', tier: finish.tier, usage, cost, detail: model });
    const worded = readSummary(messageText(message), plan.earlier);
    return worded ?? refuse('summary-failed', `${model} wrote no section of a summary`);
  } catch (error) {
    span.end(signal.aborted ? 'aborted' : 'error', { purpose: 'compress', tier, detail: errorText(error) });
    if (signal.aborted) throw signal.reason;
    return refuse('summary-failed', errorText(error));
  } finally {
    limit.clear();
  }
}

async function collect(request: ModelRequest, writer: SummaryWriter, signal: AbortSignal): Promise<StepResult> {
  const { client, spans } = writer;
  const step = runStep({ client, request, spans, usedCallIds: new Set(), partial: {} }, signal);
  for (;;) {
    const next = await step.next();
    if (next.done) return next.value;
  }
}

function requestFor(plan: CompressionPlan, client: ModelClient): ModelRequest {
  const { contextWindow } = client.traits;
  const maxOutputTokens = Math.min(OUTPUT.most, Math.max(OUTPUT.least, Math.floor(plan.budget.summary * 0.7)));
  const room = Math.max(500, Math.floor(contextWindow * TRANSCRIPT_SHARE) - plan.budget.summary - maxOutputTokens);
  const said = (text: string): TextPart => ({ type: 'text', text, origin: 'foreign' });
  const earlier = plan.earlier ? [said(renderEarlier(plan.earlier))] : [];
  const transcript = said(
    `Transcript:\n${renderTranscript(plan.middle, room)}\n[end of transcript] Write the record now.`,
  );
  return {
    system: SUMMARY_PROMPT,
    messages: [{ role: 'user', parts: [...earlier, transcript] }],
    tools: [],
    purpose: 'compress',
    maxOutputTokens,
  };
}

function renderEarlier({ sections }: Summary): string {
  const shown = WORDED.flatMap((name) => {
    const lines = (sections[name] ?? []).map((line, i) => (name === 'Open' ? `- O${i + 1}: ${line}` : `- ${line}`));
    return lines.length === 0 ? [] : [`## ${name}`, ...lines];
  });
  return ['Earlier record (kept as it is, not yours to repeat):', ...shown].join('\n');
}

/** Undefined when the answer has no section of ours. */
function readSummary(text: string, earlier: Summary | undefined): Result<Worded, never> | undefined {
  const sections = new Map<SectionName, string[]>();
  const closed = new Set<string>();
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const heading = /^\s*(?:#{1,4}\s+|\*\*)([A-Za-z ]+?):?(?:\*\*)?:?\s*$/.exec(line)?.[1];
    if (heading !== undefined) open = heading.toLowerCase();
    else if (open === 'closed')
      for (const number of line.matchAll(/\bO(\d+)\b/g))
        closed.add(earlier?.sections.Open?.[Number(number[1]) - 1] ?? '');
    else keepLine(sections, open, line);
  }
  return sections.size === 0 ? undefined : ok({ sections: Object.fromEntries(sections) as Sections, closed });
}

function keepLine(sections: Map<SectionName, string[]>, open: string | undefined, line: string): void {
  const name: WordedSection | undefined = WORDED.find((known) => known.toLowerCase() === open);
  const plain = line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, '').trim();
  if (name === undefined || plain === '' || /^\(?(?:none|nothing|n\/a)\b[.)]*$/i.test(plain)) return;
  sections.set(name, [...(sections.get(name) ?? []), plain]);
}

// How messages are shown to the summarising model: one entry a message with its id, long texts cut at both ends. Pure.
// Invariant: the whole fits its budget, and every message is there, if only with its first words.

/** Characters of one message: what was said, and what tools printed. */
const FULL = { said: 2_400, printed: 800 };
const SMALLEST = 60;

function renderTranscript(messages: readonly StoredMessage[], tokens: number): string {
  for (let share = 1; ; share /= 2) {
    const said = Math.max(SMALLEST, Math.floor(FULL.said * share));
    const printed = Math.max(SMALLEST, Math.floor(FULL.printed * share));
    const text = messages.map((stored) => entryOf(stored, { said, printed })).join('\n');
    if (estimateTokens(text) <= tokens) return text;
    if (said === SMALLEST) return headTail(text, tokens * 2, tokens * 2);
  }
}

function entryOf({ id, message }: StoredMessage, limit: typeof FULL): string {
  const pieces = message.parts.map((part) => pieceOf(part, limit)).filter((piece) => piece !== '');
  return `#${id} ${speakerOf(message)}: ${pieces.join('\n')}`;
}

function speakerOf(message: Message): string {
  if (message.role !== 'user') return message.role === 'tool' ? `result of ${message.parts[0].name}` : 'agent';
  return message.parts.some((part) => part.origin === 'owner') ? 'owner' : 'input';
}

function pieceOf(part: Part, limit: typeof FULL): string {
  switch (part.type) {
    case 'reasoning':
      return '';
    case 'image':
      return imageNote(part);
    case 'tool-call':
      return `[calls ${part.name} ${cut(part.malformed ?? JSON.stringify(part.arguments), limit.printed)}]`;
    case 'tool-result':
      return `${part.isError ? '[failed] ' : ''}${cut(part.text, limit.printed)}`;
    case 'text':
      return part.label === 'context' || part.label === 'notice' ? '' : cut(part.text, limit.said);
  }
}

function cut(text: string, limit: number): string {
  return headTail(text, Math.ceil(limit * 0.7), Math.floor(limit * 0.3));
}

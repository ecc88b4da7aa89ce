// Owns calls of a run as text: one line each, or one of them whole. Pure.
import { ellipsize } from '#base/text.ts';
import type { CallRecord } from '../call/call-record.ts';
import { duration, instant, money, thousands } from '../page/markup/figures.ts';

export const CALL_COLUMNS = ['call', 'mode', 'family', 'model', 'result', 'tokens', 'cost', 'time'] as const;

export function callRow(call: CallRecord): readonly string[] {
  const { call_id, mode, runtime, model, usage, cost, elapsed_ms } = call;
  const tokens = usage === null ? '-' : `${thousands(usage.input_tokens)}+${thousands(usage.output_tokens)}`;
  return [call_id, mode, runtime, model ?? '-', resultOf(call), tokens, money(cost), duration(elapsed_ms)];
}

/** Nothing is cut. */
export function callText(call: CallRecord): string {
  const { call_id, parent_call_id, started_at, system_prompt, prompt, completion, adapter_error } = call;
  const head = [`call      ${call_id}`, `parent    ${parent_call_id ?? 'none'}`, `asked     ${instant(started_at)}`];
  const row = callRow(call).map((value, at) => `${String(CALL_COLUMNS[at]).padEnd(10)}${value}`);
  const texts: readonly (readonly [string, string])[] = [
    ['rules', system_prompt],
    ['prompt', prompt],
    ['reply', completion ?? `none: ${adapter_error?.detail ?? ''}`],
  ];
  return [...head, ...row.slice(1), ...texts.map(([title, text]) => `\n--- ${title} ---\n${text}`)].join('\n');
}

function resultOf({ success, adapter_error }: CallRecord): string {
  return success ? 'answered' : ellipsize(`${adapter_error?.type}: ${adapter_error?.detail}`, 60);
}

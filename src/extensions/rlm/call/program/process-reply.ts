// Owns reading what a program printed: one JSON object `{completion, model?, usage?, cost?}`, else everything as the completion. Pure.
// Invariant: figures are what the program told and make sense, else null; what it printed around them is never guessed at.
import { z } from 'zod';
import { parseJsonObject } from '#base/json.ts';
import type { InnerReply } from '../inner-call.ts';

export type ProcessReply = Pick<InnerReply, 'completion' | 'usage' | 'cost'> & { readonly model: string | null };

const count = z.int().min(0);
const reply = z.object({
  completion: z.string(),
  model: z.string().min(1).max(200).nullish().catch(null),
  usage: z.object({ input_tokens: count, output_tokens: count }).nullish().catch(null),
  cost: z.number().min(0).nullish().catch(null),
});

export function readProcessReply(printed: string): ProcessReply {
  const text = printed.toWellFormed();
  const told = parseJsonObject(text.trim());
  const read = told.ok ? reply.safeParse(told.value) : undefined;
  if (!read?.success) return { completion: text.replace(/\r?\n$/, ''), model: null, usage: null, cost: null };
  const { completion, model = null, usage = null, cost = null } = read.data;
  return { completion: completion.toWellFormed(), model, usage, cost };
}

/** A chat program's frame around an answer: its box of reasoning, and the line that names the session (notes 13.7). */
export function withoutFrame(printed: string): string {
  return printed
    .replace(/^[ \t]*[┌╭][─━ ]*Reasoning\b[^\n]*\n(?:(?![ \t]*[└╰])[^\n]*\n)*[ \t]*[└╰][^\n]*(?:\n|$)/gm, '')
    .replace(/^[ \t]*session_id:[^\n]*(?:\n|$)/gm, '')
    .trim();
}

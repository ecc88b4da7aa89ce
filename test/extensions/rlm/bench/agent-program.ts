/** A program that answers one inner call, as the CLI of another agent would: one JSON object in, one out. */
import { text } from 'node:stream/consumers';
import { systemClock } from '#base/clock.ts';
import { callByRule } from '#extensions/rlm/reflex-tasks.ts';

const request = JSON.parse(await text(process.stdin)) as { readonly prompt: string };
const reply = await callByRule(systemClock, 'reflex').call(
  { call_id: 'c', system: '', prompt: request.prompt, max_output_tokens: 4000, timeout_ms: 1000 },
  new AbortController().signal,
);
process.stdout.write(reply.ok ? JSON.stringify({ completion: reply.value.completion }) : '');

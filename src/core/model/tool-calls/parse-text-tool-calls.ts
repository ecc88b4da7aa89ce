/**
 * Owns the whole-text entry of the parser: the stream parser fed once, its events collected. Knows no format and has no
 * rule of its own, so whole texts and streams cannot differ. Never throws. Serves seed 001, "Tool-calling strategies".
 */
import type { MalformedCall, ParsedText, TextCall, TextCallEvent, TextToolSchema } from './text-call.ts';
import { createTextCallParser } from './text-call-parser.ts';

/** What a complete sequence of events amounts to. */
export function collectTextCalls(events: Iterable<TextCallEvent>): ParsedText {
  const content: string[] = [];
  const reasoning: string[] = [];
  const calls: TextCall[] = [];
  const malformed: MalformedCall[] = [];
  for (const event of events) {
    switch (event.type) {
      case 'text-delta':
        content.push(event.text);
        break;
      case 'reasoning-delta':
        reasoning.push(event.text);
        break;
      case 'tool-call':
        calls.push(event.call);
        break;
      case 'malformed-call':
        malformed.push(event.malformed);
        break;
      case 'reclassify':
        for (const list of [content, reasoning, calls, malformed]) list.length = 0;
        reasoning.push(event.reasoning);
        break;
    }
  }
  return { content: content.join(''), reasoning: reasoning.join(''), calls, malformed };
}

/** Content, reasoning, calls and malformed attempts of a complete answer. */
export function parseTextCalls(text: string, tools: readonly TextToolSchema[]): ParsedText {
  const parser = createTextCallParser(tools);
  return collectTextCalls([...parser.push(text), ...parser.end()]);
}

/**
 * The calls in a model's answer and the text around them; reasoning is left out. `tools` are OpenAI function schemas. An
 * attempt to call that cannot be read stays in the content: this caller hears of it nowhere else.
 */
export function parseTextToolCalls(
  text: string,
  tools: readonly TextToolSchema[],
): { content: string; calls: TextCall[] } {
  const parser = createTextCallParser(tools, { keepAttempts: true });
  const { content, calls } = collectTextCalls([...parser.push(text), ...parser.end()]);
  return { content, calls };
}

// Owns the text strategy as a decorator: tools go into the prompt, calls come out of the answer's text. Seed 001 chapter 3.
// Knows no provider and no format; the parser does. Invariant: the inner client gets no tools and no tool parts, and the outer
// stream looks exactly like that of a model with structured calls.
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { ModelClient, ModelEvent, ModelRequest } from './model-client.ts';
import { toTextHistory } from './text/text-history.ts';
import { withToolPrompt } from './text/text-prompt.ts';
import type { TextCallEvent } from './tool-calls/text-call.ts';
import { createTextCallParser } from './tool-calls/text-call-parser.ts';

export interface TextToolsOptions {
  /** Leaves the meaning of arguments out of the prompt; default for windows under 16 K. */
  readonly brief?: boolean;
}

const BRIEF_WINDOW = 16_384;

export function withTextTools(client: ModelClient, options: TextToolsOptions = {}): ModelClient {
  const brief = options.brief ?? client.traits.contextWindow < BRIEF_WINDOW;
  return {
    id: client.id,
    tier: client.tier,
    traits: { ...client.traits, toolCalling: 'text' },
    stream: (request, signal) => streamText(client, { request, brief }, signal),
  };
}

/** The request as the inner client gets it. */
function toTextRequest(request: ModelRequest, brief: boolean): ModelRequest {
  return {
    ...request,
    system: withToolPrompt(request.system, request.tools, { brief }),
    messages: toTextHistory(request.messages),
    tools: [],
  };
}

interface Work {
  readonly request: ModelRequest;
  readonly brief: boolean;
}

async function* streamText(
  client: ModelClient,
  { request, brief }: Work,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  let parser = createTextCallParser(request.tools);
  let called = false;
  const translate = (events: readonly TextCallEvent[]): ModelEvent[] => {
    const out = events.flatMap((event) => toModelEvents(event, client.id));
    for (const event of out) called = event.type === 'retry' ? false : called || event.type === 'tool-call';
    return out;
  };
  for await (const event of client.stream(toTextRequest(request, brief), signal)) {
    switch (event.type) {
      case 'text-delta':
        yield* translate(parser.push(event.text));
        break;
      case 'retry':
      case 'fallback':
        parser = createTextCallParser(request.tools);
        called = false;
        yield event;
        break;
      case 'finish':
        yield* translate(parser.end());
        // A cut answer stays one: its last call may have been cut with it.
        yield { ...event, reason: called && event.reason !== 'length' ? 'tool-calls' : event.reason };
        break;
      case 'reasoning-delta':
      case 'tool-call':
        yield event;
        break;
    }
  }
}

function toModelEvents(event: TextCallEvent, model: string): readonly ModelEvent[] {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return [event];
    case 'tool-call':
      return [
        {
          type: 'tool-call',
          callId: newId('call'),
          name: event.call.name,
          arguments: event.call.arguments as JsonObject,
        },
      ];
    case 'malformed-call':
      return [
        {
          type: 'tool-call',
          callId: newId('call'),
          name: event.malformed.name ?? nameIn(event.malformed.raw),
          arguments: {},
          malformed: event.malformed.raw,
        },
      ];
    case 'reclassify':
      // The consumer drops what it showed: it was reasoning whose opening tag stood in the model's own template.
      return [
        { type: 'retry', model, reason: 'what came so far was reasoning', attempt: 1, delayMs: 0 },
        { type: 'reasoning-delta', text: event.reasoning },
      ];
  }
}

/** A truncated attempt has no parsed name, but the model should hear of the tool that it meant. */
function nameIn(raw: string): string {
  return /["']?name["']?\s*[:=]\s*["']([^"']{1,80})["']/.exec(raw)?.[1] ?? 'unknown';
}

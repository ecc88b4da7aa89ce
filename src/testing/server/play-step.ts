// Owns putting one scripted step onto a real socket, faults included. Knows no script.
import type { ServerResponse } from 'node:http';
import { anthropicEvents } from './anthropic-wire.ts';
import { openAiEvents } from './openai-wire.ts';
import { isAnswer, type PlainServerStep, type ServerFault, type ServerRequest } from './server-step.ts';

export interface Stage {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
  readonly nextId: () => string;
}

export function playServerStep(step: PlainServerStep, stage: Stage): void {
  if ('status' in step) playStatus(step, stage.response);
  else if ('fault' in step) playFault(step.fault, stage);
  else {
    openStream(stage.response);
    stage.response.end(isAnswer(step) ? eventsOf(step, stage).join('') : errorEvent(step.streamError, stage.request));
  }
}

function playStatus(step: Extract<PlainServerStep, { status: number }>, response: ServerResponse): void {
  const text =
    typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? { error: { message: 'scripted' } });
  const type = text.trimStart().startsWith('<') ? 'text/html' : 'application/json';
  response.writeHead(step.status, { 'content-type': type, ...step.headers });
  response.end(text);
}

function playFault(fault: ServerFault, stage: Stage): void {
  const { response } = stage;
  const events = eventsOf({ reply: 'The first half of an answer that never ends' }, stage);
  const first = events.slice(0, 4).join('');
  switch (fault) {
    case 'hang':
      return;
    case 'reset':
      response.destroy();
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><html><head><title>Welcome</title></head><body>hello</body></html>');
      return;
    case 'hang-after':
      openStream(response);
      response.write(first);
      return;
    case 'reset-after':
      openStream(response);
      response.write(first, () => response.destroy());
      return;
    case 'half-event':
      openStream(response);
      response.end(first + (events[4] ?? '').slice(0, 30));
      return;
    case 'no-finish':
      openStream(response);
      response.end(first);
      return;
    case 'garbage':
      openStream(response);
      response.end(`${first}data: {"choices": [nonsense\n\n`);
      return;
  }
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
}

function eventsOf(answer: Parameters<typeof openAiEvents>[0], { request, nextId }: Stage): readonly string[] {
  const model = String(request.body.model ?? 'scripted-model');
  return isMessages(request) ? anthropicEvents(answer, model, nextId) : openAiEvents(answer, model, nextId);
}

function errorEvent(error: object, request: ServerRequest): string {
  if (isMessages(request)) return `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`;
  return `data: ${JSON.stringify({ error })}\n\n`;
}

function isMessages(request: ServerRequest): boolean {
  return request.path.endsWith('/messages');
}

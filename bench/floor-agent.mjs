// The least an agent can be: fetch, a streaming SSE reader, one shell tool, no dependency, nothing written down.
import { spawn } from 'node:child_process';

const schema = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };
const tools = [
  { type: 'function', function: { name: 'shell', description: 'Run a shell command.', parameters: schema } },
];
const messages = [
  { role: 'system', content: 'You act through your tool.' },
  { role: 'user', content: process.argv[2] ?? 'go' },
];

function shell(command) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('close', () => resolve(output || '(no output)'));
  });
}

async function ask() {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer none' };
  const body = JSON.stringify({ model: 'stub-model', stream: true, messages, tools });
  const response = await fetch(`${process.env.BASE}/chat/completions`, { method: 'POST', headers, body });
  const answer = { role: 'assistant', content: '', tool_calls: [] };
  for await (const event of events(response.body)) take(answer, event);
  return answer.tool_calls.length > 0 ? answer : { role: 'assistant', content: answer.content };
}

async function* events(stream) {
  let rest = '';
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop();
    yield* parts;
  }
}

function take(answer, event) {
  if (event === 'data: [DONE]' || !event.startsWith('data: ')) return;
  const delta = JSON.parse(event.slice(6)).choices[0]?.delta;
  if (delta?.content) answer.content += delta.content;
  answer.tool_calls.push(...(delta?.tool_calls ?? []));
}

for (let answer = await ask(); ; answer = await ask()) {
  messages.push(answer);
  if (!answer.tool_calls) break;
  for (const call of answer.tool_calls) {
    messages.push({
      role: 'tool',
      tool_call_id: call.id,
      content: await shell(JSON.parse(call.function.arguments).command),
    });
  }
}
console.log(messages.at(-1).content);

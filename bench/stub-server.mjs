// A scripted OpenAI-compatible endpoint in its own process: ROUNDS tool calls `echo hi <n>` since the last user message, then a text;
// where that message says "slowly", a second later. Prints one JSON line per request: arrival time (ms since epoch, sub-millisecond) and,
// with BODIES=1, the body.
import { createServer } from 'node:http';

const rounds = Number(process.env.ROUNDS ?? 1);
const clock = () => performance.timeOrigin + performance.now();
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const server = createServer((request, response) => {
  const arrived = clock();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (!request.url.endsWith('/chat/completions')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'stub-model', object: 'model' }] }));
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    say(process.env.BODIES ? { arrived, body } : { arrived });
    const isSlow = JSON.stringify(body.messages.findLast(({ role }) => role === 'user')).includes('slowly');
    isSlow ? setTimeout(stream, 1_000, response, reply(body)) : stream(response, reply(body));
  });
});

function reply(body) {
  const turn = body.messages.slice(body.messages.findLastIndex((message) => message.role === 'user') + 1);
  const done = turn.filter((message) => message.role === 'tool').length;
  const tool = body.tools?.find((candidate) => candidate.function.parameters?.properties?.command);
  if (done >= rounds || !tool)
    return [{ role: 'assistant', content: '' }, { content: 'The command ' }, { content: 'printed: hi' }];
  const call = { index: 0, id: `call_${body.messages.length}`, type: 'function' };
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { ...call, function: { name: tool.function.name, arguments: JSON.stringify({ command: `echo hi ${done}` }) } },
      ],
    },
  ];
}

function stream(response, deltas) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const base = { id: 'chatcmpl-stub', object: 'chat.completion.chunk', created: 0, model: 'stub-model' };
  const send = (data) => response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  for (const delta of deltas) send({ ...base, choices: [{ index: 0, delta, finish_reason: null }] });
  send({ ...base, choices: [{ index: 0, delta: {}, finish_reason: deltas.length === 1 ? 'tool_calls' : 'stop' }] });
  send({ ...base, choices: [], usage: { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 } });
  send('[DONE]');
  response.end();
}

server.listen(0, '127.0.0.1', () => say({ port: server.address().port }));

/**
 * The scripted server behind part two of docs/guide/first-hour.md: it speaks the wire of an OpenAI-compatible endpoint and answers the
 * lines of the guide from a table. It is no model; `node scripts/first-hour/server.ts` starts it and prints its address.
 */
import {
  type ScriptedServer,
  type ServerAnswer,
  type ServerRequest,
  type ServerStep,
  startScriptedServer,
} from '#testing/scripted-server.ts';

const CALLS = 1_000;

const LOUD = {
  path: 'greet.js',
  old_string: "export function greet(name) {\n  return 'Hello, ' + name + '.';\n}",
  new_string:
    "export function greet(name, { loud = false } = {}) {\n  const text = 'Hello, ' + name + '.';\n  return loud ? text.toUpperCase() : text;\n}",
};

/** Answers of one line of the guide, one a step. */
const LINES: readonly (readonly [RegExp, readonly ServerAnswer[]])[] = [
  [/^Say ok/, [{ reply: 'ok' }]],
  [
    /shout/,
    [
      { reply: 'I look at the file first.', calls: [{ name: 'read_file', arguments: { path: 'greet.js' } }] },
      { calls: [{ name: 'patch', arguments: LOUD }] },
      {
        calls: [
          {
            name: 'terminal',
            arguments: {
              command: `node -e "import('./greet.js').then((m) => console.log(m.greet('Ada', { loud: true })))"`,
            },
          },
        ],
      },
      {
        reply:
          'Done. `greet` takes **loud** now:\n\n- `greet("Ada")` says `Hello, Ada.`\n- `greet("Ada", { loud: true })` says `HELLO, ADA.`',
      },
    ],
  ],
  [/Dutch/, [{ reply: 'In Dutch it would be `Hallo, Ada.`' }]],
];

export async function startFirstHourServer(): Promise<ScriptedServer> {
  const failed = new Set<string>();
  const answer = (request: ServerRequest): ServerStep => {
    const { line, step } = asked(request);
    if (/Dutch/.test(line) && !failed.has(line)) {
      failed.add(line);
      return { status: 402, body: { error: { message: 'Your credit balance is too low.' } } };
    }
    const steps = LINES.find(([pattern]) => pattern.test(line))?.[1] ?? [{ reply: 'This line is not in the script.' }];
    return { ...steps[Math.min(step, steps.length - 1)], usage: { inputTokens: Math.round(request.raw.length / 4) } };
  };
  return startScriptedServer(
    Array.from({ length: CALLS }, () => answer),
    { models: ['scripted-model'] },
  );
}

/** The owner's last line, and how many tools have answered since. */
function asked({ body }: ServerRequest): { readonly line: string; readonly step: number } {
  const messages = (Array.isArray(body.messages) ? body.messages : []) as readonly Record<string, unknown>[];
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const step = messages.slice(at + 1).filter(({ role }) => role === 'tool').length;
  return { line: textOf(messages[at]?.content), step };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => String(part?.text ?? '')).join('\n') : '';
}

if (import.meta.main) {
  const { baseUrl } = await startFirstHourServer();
  console.log(`the scripted server listens at ${baseUrl} (Ctrl-C ends it)`);
}

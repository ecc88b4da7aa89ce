/**
 * Read tool calls out of what open models write as plain text. `node examples/parse-tool-calls.ts`
 */
import { parseTextToolCalls } from 'talaria/tool-calls';

const tools = [
  {
    type: 'function',
    function: {
      name: 'terminal',
      description: 'Run a command.',
      parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    },
  },
] as const;

const outputs = [
  'Let me look.\n<tool_call>{"name": "terminal", "arguments": {"command": "ls"}}</tool_call>',
  '<tool_call>\n<function=terminal>\n<parameter=command>\nls -la\n</parameter>\n</function>\n</tool_call>',
  '[TOOL_CALLS][{"name": "terminal", "arguments": {"command": "pwd"}}]',
  'You could call the terminal, but I will not.',
];
for (const output of outputs) {
  const { content, calls } = parseTextToolCalls(output, tools);
  console.log(JSON.stringify({ content, calls }));
}

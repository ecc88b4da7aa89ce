import type { TextCall } from '#public/tool-calls.ts';

/** Writes calls in the notation of each family, from its chat template, for arbitrary JSON arguments. */

type Render = (calls: readonly TextCall[]) => string;

const object = ({ name, arguments: args }: TextCall, key = 'arguments'): string =>
  JSON.stringify({ name, [key]: args });
const each =
  (one: (call: TextCall, index: number) => string, glue = '\n'): Render =>
  (calls) =>
    calls.map(one).join(glue);
const list: Render = (calls) => `[${calls.map((call) => object(call)).join(', ')}]`;

/** A Python literal. */
function python(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, inner]) => `${python(key)}: ${python(inner)}`)
      .join(', ')}}`;
  return String(value);
}

const pythonCall = ({ name, arguments: args }: TextCall): string =>
  `${name}(${Object.entries(args)
    .map(([key, value]) => `${key}=${python(value)}`)
    .join(', ')})`;

export const RENDERERS: Readonly<Record<string, Render>> = {
  hermes: each((call) => `<tool_call>\n${object(call)}\n</tool_call>`),
  'hermes, Python literals': each(
    (call) => `<tool_call>\n${python({ name: call.name, arguments: call.arguments })}\n</tool_call>`,
  ),
  'hermes, arguments as text': each(
    (call) =>
      `<tool_call>${JSON.stringify({ name: call.name, arguments: JSON.stringify(call.arguments) })}</tool_call>`,
  ),
  'hermes, missing closers': each((call) => `<tool_call>\n${object(call)}`),
  'fenced json': each(
    (call) => `\`\`\`json\n${JSON.stringify({ name: call.name, arguments: call.arguments }, null, 2)}\n\`\`\``,
  ),
  'llama bare': each((call) => object(call, 'parameters'), '; '),
  'llama python tag': (calls) => `<|python_tag|>${each((call) => object(call, 'parameters'), '; ')(calls)}<|eom_id|>`,
  'llama function tag': each((call) => `<function=${call.name}>${JSON.stringify(call.arguments)}</function>`),
  pythonic: (calls) => `[${calls.map(pythonCall).join(', ')}]`,
  lfm2: (calls) => `<|tool_call_start|>[${calls.map(pythonCall).join(', ')}]<|tool_call_end|>`,
  olmo: (calls) => `<function_calls>\n${calls.map(pythonCall).join('\n')}\n</function_calls>`,
  'gemma tool_code': (calls) =>
    `\`\`\`tool_code\n${calls.map((call) => `print(default_api.${pythonCall(call)})`).join('\n')}\n\`\`\``,
  'mistral list': (calls) => `[TOOL_CALLS]${list(calls)}`,
  'mistral args': each((call) => `[TOOL_CALLS]${call.name}[ARGS]${JSON.stringify(call.arguments)}`, ''),
  granite: (calls) => `<|tool_call|>${list(calls)}`,
  'granite function_call': each((call) => `<function_call> ${object(call)}`, ' '),
  xlam: (calls) => `{"tool_calls": ${list(calls)}}`,
  'xlam list': list,
  phi: (calls) => `functools${list(calls)}`,
  nemotron: (calls) => `<TOOLCALL>${list(calls)}</TOOLCALL>`,
  glm: each((call) => `${call.name}\n${JSON.stringify(call.arguments)}`),
  'deepseek v3': (calls) =>
    `<｜tool▁calls▁begin｜>${each((call) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${JSON.stringify(call.arguments)}\n\`\`\`<｜tool▁call▁end｜>`)(calls)}<｜tool▁calls▁end｜>`,
  'deepseek v3.1': (calls) =>
    `<｜tool▁calls▁begin｜>${each((call) => `<｜tool▁call▁begin｜>${call.name}<｜tool▁sep｜>${JSON.stringify(call.arguments)}<｜tool▁call▁end｜>`, '')(calls)}<｜tool▁calls▁end｜>`,
  kimi: (calls) =>
    `<|tool_calls_section_begin|>${each((call, index) => `<|tool_call_begin|>functions.${call.name}:${index}<|tool_call_argument_begin|>${JSON.stringify(call.arguments)}<|tool_call_end|>`, '')(calls)}<|tool_calls_section_end|>`,
  cohere: (calls) =>
    `<|START_ACTION|>[\n${calls.map((call, index) => JSON.stringify({ tool_call_id: String(index), tool_name: call.name, parameters: call.arguments })).join(',\n')}\n]<|END_ACTION|>`,
  'gpt-oss': each(
    (call) =>
      `<|start|>assistant<|channel|>commentary to=functions.${call.name} <|constrain|>json<|message|>${JSON.stringify(call.arguments)}<|call|>`,
    '',
  ),
  functionary: each((call) => `>>>${call.name}\n${JSON.stringify(call.arguments)}`),
  gemma: each(
    (call) =>
      `<|tool_call>call:${call.name}{${Object.entries(call.arguments)
        .map(([key, value]) => `${key}:${JSON.stringify(value)}`)
        .join(',')}}<tool_call|>`,
    '',
  ),
  'seed call:': each(
    (call) =>
      `call:${call.name}{${Object.entries(call.arguments)
        .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
        .join(', ')}}`,
  ),
  react: (calls) =>
    calls.map((call) => `Action: ${call.name}\nAction Input: ${JSON.stringify(call.arguments)}`).join('\n'),
};

/** Values in markup come out as their template wrote them, whatever they hold; calls that were cut off are never run. */
import { type Case, call, giving, TIME } from '../tools.ts';

const close = (name: string): string => `</${name}>`;
const SOURCE = 'import re\n\nprint("a")\n';
/** A file about tool calls: markup of every kind, balanced and not. */
const SAMPLES = [
  `A = '<tool_call>{"name": "x"}${close('tool_call')}'`,
  `B = """<function=f>\n<parameter=x>\n1\n${close('parameter')}\n${close('function')}"""`,
  `C = text.replace('${close('parameter')}', '').replace('${close('arg_value')}', '')`,
  "D = '[TOOL_CALLS][]'",
  '',
].join('\n');

const block = (key: string, value: string): string => `<parameter=${key}>\n${value}\n${close('parameter')}`;
const inline = (key: string, value: string): string => `<parameter=${key}>${value}${close('parameter')}`;
const named = (key: string, value: string): string => `<parameter name="${key}">${value}${close('parameter')}`;
const dsml = (key: string, value: string): string =>
  `<｜DSML｜parameter name="${key}" string="true">${value}</｜DSML｜parameter>`;
const pair = (key: string, value: string): string => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`;

type Write = (path: string, content: string) => string;

const FORMATS: Readonly<Record<string, Write>> = {
  coder: (path, content) =>
    `<tool_call>\n<function=write_file>\n${block('path', path)}\n${block('content', content)}\n${close('function')}\n${close('tool_call')}`,
  seed: (path, content) =>
    `<seed:tool_call>\n<function=write_file>\n${inline('path', path)}\n${inline('content', content)}\n${close('function')}\n${close('seed:tool_call')}`,
  minimax: (path, content) =>
    `<minimax:tool_call>\n<invoke name="write_file">\n${named('path', path)}\n${named('content', content)}\n${close('invoke')}\n${close('minimax:tool_call')}`,
  dsml: (path, content) =>
    `<｜DSML｜function_calls>\n<｜DSML｜invoke name="write_file">\n${dsml('path', path)}\n${dsml('content', content)}\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
  glm: (path, content) => `<tool_call>write_file${pair('path', path)}${pair('content', content)}${close('tool_call')}`,
};

const VALUES: Readonly<Record<string, string>> = {
  'a last line break': SOURCE,
  'blank lines at its end': 'a\n\n\n',
  'white space around it': '  a\t ',
  entities: '<p>Tom &amp; "Jerry"</p>\n',
  'samples of calls': SAMPLES,
  'an unknown closer on its own line': 'a\n</function_x>\n</b>\nc\n',
};

const EXACT: readonly Case[] = Object.entries(FORMATS).flatMap(([format, write]) =>
  Object.entries(VALUES).map(([kind, content]) => ({
    title: `${format}, value with ${kind}`,
    text: `${write('a.py', content)}\n${write('b.py', 'b')}`,
    calls: [call('write_file', { path: 'a.py', content }), call('write_file', { path: 'b.py', content: 'b' })],
    content: '',
  })),
);

const CUT: Readonly<Record<string, string>> = {
  'in a block': '<tool_call>\n<function=terminal>\n<parameter=command>\nrm -rf /va',
  'at a line break in a value': '<function=write_file>\n<parameter=path>a</parameter>\n<parameter=content>import os\n',
  'before the arguments': '<function=get_weather>',
  'between two arguments': '<tool_call>\n{"name": "write_file", "arguments": {"path": "a", ',
  'between two arguments of a named call': '[TOOL_CALLS]write_file{"path": "a", ',
  'in a text without its opening quote': '<|tool_call>call:terminal{command:rm -rf /va',
  'in doubled braces': '<tool_call>\n{{"name": "terminal", "arguments": {{"command": "rm -rf /va',
  'in a value of glm': '<tool_call>terminal<arg_key>command</arg_key><arg_value>rm -rf /va',
  'behind a brace in a text without its closing quote': '<|tool_call>call:terminal{command:<|"|>echo ${HOME}',
  'behind a brace in a text': '<tool_call>{"name": "terminal", "arguments": {"command": "echo ${HOME}',
  'behind a closer in code': `<function=write_file>\n<parameter=path>a</parameter>\n<parameter=content>\ncut('${close('parameter')}')\nnext(`,
  'behind a closer of the call in code': `<function=terminal>\n<parameter=command>\ncut '${close('function')}' | next`,
  'in a python call': '<|tool_call_start|>[write_file(path="a"',
};

/** Not run, and the whole-text entry keeps what was written. */
export const CUT_OFF: readonly Case[] = Object.entries(CUT).map(([title, text]) => ({
  title: `cut off ${title}`,
  text,
  calls: [],
  malformed: ['truncated'],
}));

export const EXACT_VALUES: readonly Case[] = [
  ...EXACT,
  ...CUT_OFF,
  ...giving({ calls: [], content: '', malformed: ['unparsable'] })({
    'cut off under backslashes':
      '<tool_call>{\\"name\\": \\"terminal\\", \\"arguments\\": {\\"command\\": \\"rm -rf /va',
    'arguments that cannot be read are no empty arguments': `<invoke name="get_weather">the city is Paris${close('invoke')}`,
  }),
  ...giving({ calls: [TIME], content: '' })({
    'no arguments needed': `<invoke name="get_time">${close('invoke')}`,
  }),
];

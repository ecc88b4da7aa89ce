/** Calls whose meaning is certain although their markup is damaged: closers, openers, brackets, commas, quotation marks. */
import { type Case, call, giving, LONDON, LS, LS_JSON, PARIS, PARIS_JSON, TIME } from '../tools.ts';

const END = '</tool_call>';
const close = (name: string): string => `</${name}>`;
const parameter = (key: string, value: string, end = close('parameter')): string => `<parameter=${key}>${value}${end}`;
const named = (key: string, value: string): string => `<parameter name="${key}">${value}${close('parameter')}`;
const coder = (inner: string, end = close('function')): string => `<function=terminal>\n${inner}\n${end}`;
const glm = (inner: string, end = END): string => `<tool_call>get_weather${inner}${end}`;
const body = (inner: string): string => `<tool_call>\n${inner}\n${END}`;
const gemma = (inner: string): string => `<|tool_call>call:${inner}<tool_call|>`;

const CLOSERS = giving({ calls: [LS], content: '' })({
  'closer without its last letter': `<tool_call>\n${LS_JSON}\n</tool_cal>`,
  'closer cut off': `<tool_call>\n${LS_JSON}\n</tool_ca`,
  'closer without underscore': `<tool_call>\n${LS_JSON}\n</toolcall>`,
  'closer with a space': `<tool_call>\n${LS_JSON}\n</ tool_call >`,
  'closer with a backslash': `<tool_call>\n${LS_JSON}\n<\\/tool_call>`,
  'closer with a bracket': `<tool_call>\n${LS_JSON}\n</tool_call]`,
  'closer of another kind': `<tool_call>\n${LS_JSON}\n</function>`,
  'closer that no format has, behind the call': `<tool_call>\n${LS_JSON}\n${END}\n</function_invocation>`,
  'closer of another vendor behind the call': `<tool_call>\n${LS_JSON}\n${END}\n</xai:function_call>`,
  'coder, function closer cut': `<tool_call>\n${coder(parameter('command', '\nls -la\n'), '</func>')}\n${END}`,
  'coder, parameter closed by the function': `<tool_call>\n${coder(parameter('command', 'ls -la', ''))}\n${END}`,
  'coder, parameter closed by another name': `<tool_call>\n${coder(parameter('command', '\nls -la\n', close('param')))}\n${END}`,
  'coder, parameter closed by its key': `<tool_call>\n${coder(parameter('command', '\nls -la\n', close('command')))}\n${END}`,
  'tag broken by a line': `<tool_call\n>\n${LS_JSON}\n</tool_call\n>`,
  'tag with spaces': `< tool_call >\n${LS_JSON}\n< /tool_call >`,
  'tag in brackets': `[tool_call]\n${LS_JSON}\n[/tool_call]`,
  'upper case': `<TOOL_CALL>\n${LS_JSON}\n</TOOL_CALL>`,
});

const OPENERS = giving({ calls: [LS], content: '' })({
  'opener without its first character': `tool_call>\n${LS_JSON}\n${END}`,
  'coder, parameter opener without its end': `<tool_call>\n<function=terminal\n<parameter=command\nls -la\n${close('parameter')}\n${close('function')}\n${END}`,
  'coder, openers without their first character': body(
    `function=terminal>\nparameter=command>\nls -la\n${close('parameter')}\n${close('function')}`,
  ),
  'coder, key as an attribute': body(coder(`<parameter command>\nls -la\n${close('parameter')}`)),
  'words before the object': body(`Here is the call:\n${LS_JSON}`),
  'the language before the object': body(`json\n${LS_JSON}`),
});

const OBJECTS = giving({ calls: [LS], content: '' })({
  'doubled braces': body('{{"name": "terminal", "arguments": {{"command": "ls -la"}}}}'),
  'doubled outer braces': body('{{"name": "terminal", "arguments": {"command": "ls -la"}}}'),
  'too many brackets': body(`${LS_JSON}}]`),
  'too many braces, bare': `${LS_JSON}}`,
  'no outer braces': body('"name": "terminal", "arguments": {"command": "ls -la"}'),
  'lines instead of an object': body('name: terminal\narguments: {"command": "ls -la"}'),
  'a list with keys': body('["name": "terminal", "arguments": {"command": "ls -la"}]'),
  'a bracket for a brace': body('{"name": "terminal", "arguments": {"command": "ls -la"]}'),
  'arguments beside the object': body('{"name": "terminal"} {"arguments": {"command": "ls -la"}}'),
  'no comma': body('{"name": "terminal" "arguments": {"command": "ls -la"}}'),
  'no comma, bare keys': body('{name: "terminal" arguments: {command: "ls -la"}}'),
  'no colon': body('{"name": "terminal", "arguments" {"command": "ls -la"}}'),
  'semicolon for a colon': body('{"name": "terminal", "arguments": {"command"; "ls -la"}}'),
  'full-width punctuation': body('{"name"： "terminal"， "arguments"： {"command"： "ls -la"}}'),
  'no quotation mark before a key': body('{"name": "terminal", arguments": {"command": "ls -la"}}'),
  'no quotation mark behind a key': body('{"name": "terminal", "arguments": {"command: "ls -la"}}'),
  'no quotation mark behind the name': body('{"name": "terminal, "arguments": {"command": "ls -la"}}'),
  'no quotation mark behind the last value': body('{"name": "terminal", "arguments": {"command": "ls -la}}'),
  'HTML entities': body(
    '{&quot;name&quot;: &quot;terminal&quot;, &quot;arguments&quot;: {&quot;command&quot;: &quot;ls -la&quot;}}',
  ),
  'backslashes before every quotation mark': body(
    '{\\"name\\": \\"terminal\\", \\"arguments\\": {\\"command\\": \\"ls -la\\"}}',
  ),
  'arguments encoded twice': body(
    JSON.stringify({ name: 'terminal', arguments: JSON.stringify('{"command": "ls -la"}') }),
  ),
  'arguments are the only required one': body('{"name": "terminal", "arguments": "ls -la"}'),
  'no closing parenthesis': '[terminal(command="ls -la"]',
});

const GLM = giving({ calls: [PARIS], content: '' })({
  'glm, closer cut off': glm('<arg_key>city</arg_key><arg_value>Paris</arg_value>', '</tool_cal'),
  'glm, value closer cut off': glm('<arg_key>city</arg_key><arg_value>Paris</arg_val', ''),
  'glm, no key opener': glm('\ncity</arg_key>\n<arg_value>Paris</arg_value>\n'),
  'glm, name and key in one word': glm('city</arg_key><arg_value>Paris</arg_value>'),
  'glm, a wrong key opener': glm('<tool_call>city</arg_key><arg_value>Paris</arg_value>'),
  'glm, no value opener': glm('\n<arg_key>city</arg_key>\nParis</arg_value>\n'),
  'glm, no value closer': glm('\n<arg_key>city</arg_key>\n<arg_value>Paris\n'),
  'glm, no closer at all': glm('<arg_key>city</arg_key><arg_value>Paris</arg_value>', '<|observation|>'),
  'camel case': body(PARIS_JSON.replace('get_weather', 'getWeather')),
});

const STRIPPED = giving({ calls: [PARIS], content: '' })({
  'harmony without tokens': 'commentary to=functions.get_weather json{"city": "Paris"}',
  'harmony without tokens, as the assistant': 'assistantcommentary to=functions.get_weather json{"city": "Paris"}',
  'chevrons behind all': '>>>get_weather\n{"city": "Paris"}',
  'deepseek without tokens': 'functionget_weather\n```json\n{"city": "Paris"}\n```',
  'deepseek with spaces':
    '<｜tool calls begin｜><｜tool call begin｜>get_weather<｜tool sep｜>{"city": "Paris"}<｜tool call end｜>',
  'code element': '<code>\nget_weather(city="Paris")\n</code>',
  'code element, stopped before its closer': '<code>\nget_weather(city="Paris")\n',
  'qwen-agent': '✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Paris"}\n✿RESULT✿',
  'minimax m3': `]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">\n]<]minimax[>[<city>Paris]<]minimax[>[</city>\n]<]minimax[>[</invoke>\n]<]minimax[>[${END}`,
  'gemma, no opening quote': gemma('get_weather{city:Paris<|"|>}'),
  'gemma, no closing quote': gemma('get_weather{city:<|"|>Paris}'),
});

export const DAMAGED: readonly Case[] = [
  ...CLOSERS,
  ...OPENERS,
  ...OBJECTS,
  ...GLM,
  ...STRIPPED,
  ...giving({ calls: [call('get_weather', { city: 'Paris, France', days: 5 })], content: '' })({
    'gemma, a comma in a text without its opening quote': gemma('get_weather{city:Paris, France<|"|>,days:5}'),
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: 3 })], content: '' })({
    'gemma, no comma': gemma('get_weather{city:<|"|>Paris<|"|>days:3}'),
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'I need the weather.' })({
    'harmony without tokens, analysis before':
      'analysisI need the weather.assistantcommentary to=functions.get_weather json{"city": "Paris"}',
  }),
  ...giving({ calls: [], content: 'Hello.', reasoning: 'Nothing to do.' })({
    'harmony without tokens, answer only': 'analysisNothing to do.assistantfinalHello.',
  }),
  ...giving({ calls: [PARIS], content: 'Let me look.' })({
    'harmony without tokens behind a sentence':
      'Let me look.assistantcommentary to=functions.get_weather json{"city": "Paris"}',
  }),
  ...giving({ calls: [PARIS], content: 'Let me check.' })({
    'chevrons glued to a sentence': '>>>all\nLet me check.>>>get_weather\n{"city": "Paris"}',
  }),
  ...giving({ calls: [PARIS, LONDON], content: '' })({
    'several calls without the tokens between them': 'get_weather{"city": "Paris"}get_weather{"city": "London"}',
  }),
  ...giving({ calls: [PARIS], content: '' })({
    'the same call in think and behind it': `<think>\n${body(PARIS_JSON)}\n</think>\n${body(PARIS_JSON)}`,
    'dsml, two damaged closers': `<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜paramete>\n</｜DSML｜invok>\n</｜DSML｜function_calls>`,
  }),
  { title: 'behind a final answer', text: `Final answer:\n${body(LS_JSON)}`, calls: [LS], content: 'Final answer:' },
  ...giving({ calls: [PARIS, TIME], content: '' })({
    'minimax, invoke not closed': `<minimax:tool_call>\n<invoke name="get_weather">\n${named('city', 'Paris')}\n<invoke name="get_time">\n</minimax:tool_call>`,
  }),
];

/** The worst that models emit: mixed notations, half markup, chatter, results that they invent. */
import { type Case, call, giving, LONDON, LONDON_JSON, LS, LS_JSON, PARIS, PARIS_JSON, TIME } from '../tools.ts';

export const WORST: readonly Case[] = [
  ...giving({ calls: [PARIS] })({
    'fence language lost': `json\n${PARIS_JSON}`,
    'fence inside tags, closed wrongly': `<tool_call>\n\`\`\`json\n${PARIS_JSON}\n</tool_call>\n\`\`\``,
    'I do not have the answer': `I don't have that information, so let me call the tool:\n${PARIS_JSON}`,
    'in the required format': `Here is the function call in the required format:\n\n${PARIS_JSON}`,
    'best answers the prompt': `Here is a JSON for a function call with its proper arguments that best answers the given prompt:\n\n\`\`\`json\n${PARIS_JSON}\n\`\`\``,
    'full stop behind the call': `${PARIS_JSON}.`,
  }),
  ...giving({ calls: [PARIS], content: '' })({
    'bold heading before': `**Tool call:**\n${PARIS_JSON}`,
    'fence on one line': `\`\`\`json ${PARIS_JSON} \`\`\``,
    'tool_call fence': `\`\`\`tool_call\n${PARIS_JSON}\n\`\`\``,
    'xml fence alone': `\`\`\`xml\n<tool_call>\n${PARIS_JSON}\n</tool_call>\n\`\`\``,
    'backticks around the tag body': `<tool_call>\`${PARIS_JSON}\`</tool_call>`,
    'call then invented observation': `${PARIS_JSON}\nObservation: 21 degrees\nIt is 21 degrees.`,
    'call then [Tool Result: name]': `<tool_call>${PARIS_JSON}</tool_call>\n[Tool Result: get_weather]\n21 degrees\nIt is 21.`,
    'call then Tool Response label': `<tool_call>${PARIS_JSON}</tool_call>\n\nTool Response: 21\n\nIt is 21.`,
    'call then unclosed tool_response': `<tool_call>${PARIS_JSON}</tool_call>\n<tool_response>\n{"temp": 21`,
    'call, result and bare JSON call': `<tool_call>${PARIS_JSON}</tool_call>\n<tool_response>21</tool_response>\n${LS_JSON}`,
    'the tag repeated': `<tool_call><tool_call>\n${PARIS_JSON}\n</tool_call></tool_call>`,
    'both notations of one call': '<tool_call>\n<function=get_weather>\n{"city": "Paris"}\n</function>\n</tool_call>',
    'tool name in the tag, JSON body': '<get_weather>{"city": "Paris"}</get_weather>',
    'name before the JSON in the tag': '<tool_call>get_weather\n{"city": "Paris"}</tool_call>',
    'name with a colon in the tag': '<tool_call>get_weather: {"city": "Paris"}</tool_call>',
    'keyed by the tool': '<tool_call>{"get_weather": {"city": "Paris"}}</tool_call>',
    'list of pairs as arguments':
      '<tool_call>{"name": "get_weather", "arguments": [{"name": "city", "value": "Paris"}]}</tool_call>',
    'arguments in a list': '<tool_call>{"name": "get_weather", "arguments": [{"city": "Paris"}]}</tool_call>',
    'missing comma between keys': '<tool_call>{"name": "get_weather" "arguments": {"city": "Paris"}}</tool_call>',
    'unquoted name': '<tool_call>{"name": get_weather, "arguments": {"city": "Paris"}}</tool_call>',
    'xlam with a thought': `{"thought": "weather", "tool_calls": [${PARIS_JSON}]}`,
    'schema copied and filled in':
      '{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": "Paris"}}}',
    'printed variable': '```tool_code\nw = get_weather(city="Paris")\nprint(w)\n```',
    'carriage returns': `<tool_call>\r\n${PARIS_JSON}\r\n</tool_call>\r\n`,
    'byte order mark': `\ufeff${PARIS_JSON}`,
  }),
  { title: 'fence in a sentence', text: `Sure! \`\`\`json\n${PARIS_JSON}\n\`\`\``, calls: [PARIS], content: 'Sure!' },
  ...giving({ calls: [PARIS, LONDON], content: '' })({
    'section with single tags': `<tool_calls>\n<tool_call>${PARIS_JSON}</tool_call>\n<tool_call>${LONDON_JSON}</tool_call>\n</tool_calls>`,
  }),
  ...giving({ calls: [TIME], content: '' })({
    'escaped whole call': '<tool_call>"{\\"name\\": \\"get_time\\", \\"arguments\\": {}}"</tool_call>',
  }),
  ...giving({ calls: [call('read_file', { path: 'C:\\Work\\data' })], content: '' })({
    'Windows path': '<tool_call>{"name": "read_file", "arguments": {"path": "C:\\Work\\data"}}</tool_call>',
  }),
  ...giving({ calls: [call('terminal', { command: 'a\tb' })], content: '' })({
    'tab and control characters': '<tool_call>{"name": "terminal", "arguments": {"command": "a\tb"}}</tool_call>',
  }),
  ...giving({
    calls: [call('write_file', { path: 'a.ts', content: 'const a = [{b: `${c}`}];\n// <tool_call>\n' })],
    content: '',
  })({
    'code with every bracket':
      '<tool_call>{"name": "write_file", "arguments": {"path": "a.ts", "content": "const a = [{b: `${c}`}];\\n// <tool_call>\\n"}}</tool_call>',
  }),
  ...giving({ calls: [call('write_file', { path: 'a.py', content: 'print("hi")\nx = {"a": 1}\n' })], content: '' })({
    'unescaped quotation marks in code':
      '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.py", "content": "print("hi")\nx = {"a": 1}\n"}}\n</tool_call>',
  }),
  ...giving({ calls: [call('terminal', { command: 'grep "a b" c' })], content: '' })({
    'unescaped quotation marks, bare': '{"name": "terminal", "arguments": {"command": "grep "a b" c"}}',
  }),
  { title: 'empty object call', text: '<tool_call>{}</tool_call>', calls: [], malformed: ['unparsable'] },
  ...giving({ calls: [LS] })({
    'call inside a sentence with a cue before': `For example, I looked at Paris before. Now I run <tool_call>${LS_JSON}</tool_call>`,
  }),
  ...giving({ calls: [PARIS], content: 'It looks like you want the weather.' })({
    'it looks like': `It looks like you want the weather. ${PARIS_JSON}`,
  }),
  ...giving({ calls: [call('terminal', { command: 'echo `date`' })] })({
    'apostrophes and a stray backtick': `I can\`t know. <tool_call>{"name": "terminal", "arguments": {"command": "echo \`date\`"}}</tool_call>`,
  }),
  ...giving({ calls: [PARIS, LONDON] })({
    'numbered list of tags': `1. <tool_call>${PARIS_JSON}</tool_call>\n2. <tool_call>${LONDON_JSON}</tool_call>`,
  }),
  ...giving({ calls: [LS], content: 'The `<tool_call>` tag it is.' })({
    'quoted markup, then a real call': `The \`<tool_call>\` tag it is.\n<tool_call>${LS_JSON}</tool_call>`,
  }),
  ...giving({ calls: [LS], content: '```python\nprint(1)\n```' })({
    'code block, then a real call': `\`\`\`python\nprint(1)\n\`\`\`\n<tool_call>${LS_JSON}</tool_call>`,
  }),
  ...giving({ calls: [PARIS, TIME], content: '' })({
    'two lists': '[get_weather(city="Paris")][get_time()]',
    'two lists with a comma': '[get_weather(city="Paris")], [get_time()]',
  }),
  ...giving({ calls: [call('terminal', { command: "echo it's me", timeout: 5 })], content: '' })({
    'apostrophe in a single-quoted argument': "[terminal(command='echo it's me', timeout=5)]",
  }),
  ...giving({ calls: [call('terminal', { command: "echo it's me" })], content: '' })({
    'apostrophe in a marked list': "<|tool_call_start|>[terminal(command='echo it's me')]<|tool_call_end|>",
  }),
  ...giving({ calls: [], content: 'Nothing to do.' })({
    'empty list in a container': 'Nothing to do.\n<tool_call>[]</tool_call>',
  }),
  ...giving({ calls: [], content: '', malformed: ['truncated'] })({
    'truncated call in a tag': '<tool_call>{"name": "terminal", "arguments": {"command": "ls',
  }),
  { title: 'leaked tokens in text', text: '<s>Hello<|im_end|></s>', calls: [], content: 'Hello' },
  { title: 'leaked end of turn', text: 'Hello there.<end_of_turn>\n', calls: [], content: 'Hello there.' },
  ...giving({ calls: [], content: 'Hello.' })({
    'leaked turn header': '<|im_start|>assistant\nHello.<|im_end|>',
    'runs on as the user': 'Hello.<|im_end|>\n<|im_start|>user\nMore?<|im_end|>',
  }),
  ...giving({
    calls: [
      { name: 'terminal', arguments: JSON.parse('{"command": "a", "__proto__": {"x": 1}}') as Record<string, unknown> },
    ],
    content: '',
  })({
    'proto key': '<tool_call>{"name": "terminal", "arguments": {"command": "a", "__proto__": {"x": 1}}}</tool_call>',
  }),
  ...giving({ calls: [], malformed: ['unknown-tool'] })({
    'constructor as a name': '<tool_call>{"name": "constructor", "arguments": {}}</tool_call>',
  }),
  { title: 'empty', text: '', calls: [], content: '' },
  { title: 'white space only', text: ' \n\t ', calls: [], content: ' \n\t ' },
];

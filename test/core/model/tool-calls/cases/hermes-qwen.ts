/** Raw emissions of the Hermes and Qwen family, good and bad. */
import {
  type Case,
  call,
  giving,
  LONDON,
  LONDON_JSON,
  LS,
  LS_JSON,
  PARIS,
  PARIS_JSON,
  TIME,
  TIME_JSON,
} from '../tools.ts';

export const HERMES_QWEN: readonly Case[] = [
  ...giving({ calls: [PARIS], content: '' })({
    plain: `<tool_call>\n${PARIS_JSON}\n</tool_call>`,
    'one line': `<tool_call>${PARIS_JSON}</tool_call>`,
    'end token leaks': `<tool_call>\n${PARIS_JSON}\n</tool_call><|im_end|>`,
    'arguments first': '<tool_call>\n{"arguments": {"city": "Paris"}, "name": "get_weather"}\n</tool_call>',
    'missing close tag': `<tool_call>\n${PARIS_JSON}`,
    'missing close tag, end token': `<tool_call>\n${PARIS_JSON}\n<|im_end|>`,
    'missing open tag': `${PARIS_JSON}\n</tool_call>`,
    'closed by an open tag': `<tool_call>\n${PARIS_JSON}\n<tool_call>`,
    'missing brace': '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}\n</tool_call>',
    'two missing braces': '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"\n</tool_call>',
    'missing braces at the end': '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"',
    'one brace too many': '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}}\n</tool_call>',
    'doubled braces of a template':
      '<tool_call>\n{{"name": "get_weather", "arguments": {"city": "Paris"}}}\n</tool_call>',
    'wrong token, pipes': `<|tool_call|>${PARIS_JSON}<|/tool_call|>`,
    'wrong token, plural': `<tool_calls>\n${PARIS_JSON}\n</tool_calls>`,
    'wrong token, function_call': `<function_call>\n${PARIS_JSON}\n</function_call>`,
    'wrong token, tools': `<tools>\n${PARIS_JSON}\n</tools>`,
    'wrong token, mixed pair': `<tool_call>\n${PARIS_JSON}\n</function_call>`,
    'wrong token, tool_use': `<tool_use>\n${PARIS_JSON}\n</tool_use>`,
    'wrong token, capitals': `<TOOL_CALL>${PARIS_JSON}</TOOL_CALL>`,
    'wrong token, toolcall': `<toolcall>${PARIS_JSON}</toolcall>`,
    parameters: '<tool_call>{"name": "get_weather", "parameters": {"city": "Paris"}}</tool_call>',
    args: '<tool_call>{"name": "get_weather", "args": {"city": "Paris"}}</tool_call>',
    input: '<tool_call>{"name": "get_weather", "input": {"city": "Paris"}}</tool_call>',
    'arguments as JSON text':
      '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}</tool_call>',
    'function wrapper': `<tool_call>{"type": "function", "function": ${PARIS_JSON}}</tool_call>`,
    'OpenAI shape with id':
      '<tool_call>{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}</tool_call>',
    'function as the name key': '<tool_call>{"function": "get_weather", "arguments": {"city": "Paris"}}</tool_call>',
    'tool as the name key': '<tool_call>{"tool": "get_weather", "parameters": {"city": "Paris"}}</tool_call>',
    'a fence in the tag': `<tool_call>\n\`\`\`json\n${PARIS_JSON}\n\`\`\`\n</tool_call>`,
    'the tag in a json fence': `\`\`\`json\n<tool_call>\n${PARIS_JSON}\n</tool_call>\n\`\`\``,
    'trailing comma': '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris",},}</tool_call>',
    comments:
      '<tool_call>{"name": "get_weather", // the tool\n "arguments": {"city": "Paris" /* capital */}}</tool_call>',
    'smart quotes': '<tool_call>{“name”: “get_weather”, “arguments”: {“city”: “Paris”}}</tool_call>',
    'unquoted keys': '<tool_call>{name: "get_weather", arguments: {city: "Paris"}}</tool_call>',
    'case of the name': '<tool_call>{"name": "Get_Weather", "arguments": {"city": "Paris"}}</tool_call>',
    'hyphen for underscore': '<tool_call>{"name": "get-weather", "arguments": {"city": "Paris"}}</tool_call>',
    'prefix functions.': '<tool_call>{"name": "functions.get_weather", "arguments": {"city": "Paris"}}</tool_call>',
    'name attribute': '<tool_call name="get_weather">{"city": "Paris"}</tool_call>',
    'sub-elements': '<tool_call>\n<name>get_weather</name>\n<arguments>{"city": "Paris"}</arguments>\n</tool_call>',
    'Python call in the tag': '<tool_call>\nget_weather(city="Paris")\n</tool_call>',
    'invented result': `<tool_call>\n${PARIS_JSON}\n</tool_call>\n<tool_response>\n{"temp": 21}\n</tool_response>\nIt is 21 degrees.`,
    'invented user turn': `<tool_call>\n${PARIS_JSON}\n</tool_call><|im_end|>\n<|im_start|>user\nThanks!<|im_end|>\n<|im_start|>assistant\n<tool_call>${LONDON_JSON}</tool_call>`,
    'invented tool turn': `<tool_call>\n${PARIS_JSON}\n</tool_call><|im_end|>\n<|im_start|>tool\nsunny<|im_end|>\n<|im_start|>assistant\nSunny!`,
  }),
  ...giving({ calls: [PARIS], content: "I'll check the weather." })({
    'prose before': `I'll check the weather.\n<tool_call>\n${PARIS_JSON}\n</tool_call>`,
  }),
  ...giving({ calls: [PARIS], content: 'Let me look.\n\nOne moment.' })({
    'prose on both sides': `Let me look.\n\n<tool_call>\n${PARIS_JSON}\n</tool_call>\n\nOne moment.`,
  }),
  ...giving({ calls: [PARIS, LONDON], content: '' })({
    'two calls': `<tool_call>\n${PARIS_JSON}\n</tool_call>\n<tool_call>\n${LONDON_JSON}\n</tool_call>`,
    'missing close tag before the next': `<tool_call>\n${PARIS_JSON}\n<tool_call>\n${LONDON_JSON}\n</tool_call>`,
    'two objects in one tag': `<tool_call>\n${PARIS_JSON}\n${LONDON_JSON}\n</tool_call>`,
    'objects with a comma': `<tool_call>\n${PARIS_JSON},\n${LONDON_JSON}\n</tool_call>`,
    'an array in one tag': `<tool_call>\n[${PARIS_JSON}, ${LONDON_JSON}]\n</tool_call>`,
    'invented result, next call': `<tool_call>\n${PARIS_JSON}\n</tool_call>\n<tool_response>\n{"temp": 21}\n</tool_response>\n<tool_call>\n${LONDON_JSON}\n</tool_call>`,
  }),
  ...giving({ calls: [PARIS, LONDON], content: 'First Paris:\n\nThen London:' })({
    'two calls with words between': `First Paris:\n<tool_call>${PARIS_JSON}</tool_call>\nThen London:\n<tool_call>${LONDON_JSON}</tool_call>`,
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', metric: true, days: null })], content: '' })({
    'Python literals':
      "<tool_call>\n{'name': 'get_weather', 'arguments': {'city': 'Paris', 'metric': True, 'days': None}}\n</tool_call>",
  }),
  ...giving({ calls: [call('terminal', { command: "echo 'hi'" })], content: '' })({
    'Python apostrophe string': `<tool_call>{'name': 'terminal', 'arguments': {'command': "echo 'hi'"}}</tool_call>`,
  }),
  ...giving({ calls: [PARIS], content: 'Checking now.' })({
    'missing open tag after prose': `Checking now. ${PARIS_JSON}</tool_call>`,
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: 3 })], content: '' })({
    'flattened arguments': '<tool_call>\n{"name": "get_weather", "city": "Paris", "days": 3}\n</tool_call>',
  }),
  ...giving({ calls: [TIME], content: '' })({
    'arguments as empty text': '<tool_call>{"name": "get_time", "arguments": ""}</tool_call>',
    'arguments null': '<tool_call>{"name": "get_time", "arguments": null}</tool_call>',
    'no arguments': '<tool_call>{"name": "get_time"}</tool_call>',
  }),
  ...giving({ calls: [call('write_file', { path: 'a.py', content: 'a = 1\nb = 2\n' })], content: '' })({
    'raw line break in a string':
      '<tool_call>{"name": "write_file", "arguments": {"path": "a.py", "content": "a = 1\nb = 2\n"}}</tool_call>',
  }),
  ...giving({ calls: [call('terminal', { command: 'echo "hello world"' })], content: '' })({
    'unescaped quotation marks':
      '<tool_call>{"name": "terminal", "arguments": {"command": "echo "hello world""}}</tool_call>',
  }),
  ...giving({ calls: [call('search_files', { pattern: '\\d+\\.ts' })], content: '' })({
    'pattern escape': '<tool_call>{"name": "search_files", "arguments": {"pattern": "\\d+\\.ts"}}</tool_call>',
  }),
  ...giving({ calls: [call('terminal', { command: "echo it's" })], content: '' })({
    'escaped apostrophe': `<tool_call>{"name": "terminal", "arguments": {"command": "echo it\\'s"}}</tool_call>`,
  }),
  ...giving({ calls: [call('write_file', { path: 'a', content: 'x</tool_call>y' })], content: '' })({
    'closing tag inside a string':
      '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "x</tool_call>y"}}</tool_call>',
  }),
  ...giving({ calls: [call('write_file', { path: 'a', content: '</think>' })], content: '', reasoning: '' })({
    'think tag inside a string':
      '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "</think>"}}</tool_call>',
  }),
  ...giving({ calls: [call('write_file', { path: 'a', content: 'one\n"two"\n' })], content: '' })({
    'triple quotes':
      '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": """one\n"two"\n"""}}</tool_call>',
  }),
  ...giving({ calls: [call('get_weather', { city: '北京 é 😀' })], content: '' })({
    unicode: '<tool_call>{"name": "get_weather", "arguments": {"city": "北京 \\u00e9 😀"}}</tool_call>',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: '3' })], content: '' })({
    'a number stays text in JSON':
      '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": "3"}}</tool_call>',
  }),
  ...giving({ calls: [call('get_weather')], content: '' })({
    'a required argument is missing': '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>',
  }),
  ...giving({ calls: [call('create_user', { name: 'Bob', age: 4 })], content: '' })({
    'an argument named name': '<tool_call>{"name": "create_user", "arguments": {"name": "Bob", "age": 4}}</tool_call>',
  }),
  ...giving({ calls: [call('todo', { input: 'buy milk' })], content: '' })({
    'an argument named input, flattened': '<tool_call>{"name": "todo", "input": "buy milk"}</tool_call>',
  }),
  ...giving({ calls: [PARIS], content: 'I have asked for the weather.' })({
    'chatter after': `<tool_call>\n${PARIS_JSON}\n</tool_call>\nI have asked for the weather.`,
    'chatter after a missing close tag': `<tool_call>\n${PARIS_JSON}\nI have asked for the weather.`,
  }),
  { title: 'empty tag', text: 'Hello.\n<tool_call>\n</tool_call>', calls: [], content: 'Hello.' },
  ...giving({ calls: [], malformed: ['unknown-tool'] })({
    'unknown tool': '<tool_call>{"name": "fly", "arguments": {}}</tool_call>',
  }),
  ...giving({ calls: [PARIS], malformed: ['unknown-tool'] })({
    'known and unknown tool': `<tool_call>${PARIS_JSON}</tool_call><tool_call>{"name": "fly", "arguments": {}}</tool_call>`,
  }),
  ...giving({ calls: [], content: '', malformed: ['truncated'] })({
    'cut off in a string': '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt", "content": "hello wor',
  }),
  ...giving({ calls: [], content: '', malformed: ['unparsable'] })({
    'no JSON at all': '<tool_call>\n{"name": get weather of "Paris", !!}\n</tool_call>',
  }),
  ...giving({ calls: [LS], content: '', malformed: ['unparsable'] })({
    'broken, then good': `<tool_call>\n{"name": ]]]\n</tool_call>\n<tool_call>${LS_JSON}</tool_call>`,
  }),
  ...giving({ calls: [LS], content: "I'll run for you." })({
    'within a line': `I'll run <tool_call>${LS_JSON}</tool_call> for you.`,
  }),
  ...giving({ calls: [TIME, TIME], content: 'Ok.' })({
    'no space at all': `Ok.<tool_call>${TIME_JSON}</tool_call><tool_call>${TIME_JSON}</tool_call>`,
  }),
];

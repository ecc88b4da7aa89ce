/** Raw emissions of Llama, pythonic models, Mistral, Granite, xLAM, Phi, Nemotron, Jamba, Functionary, InternLM. */
import { type Case, call, giving, LONDON, LONDON_JSON, LS, PARIS, PARIS_JSON, TIME, TIME_JSON } from '../tools.ts';

const P = '{"name": "get_weather", "parameters": {"city": "Paris"}}';
const L = '{"name": "get_weather", "parameters": {"city": "London"}}';

export const LLAMA_MISTRAL: readonly Case[] = [
  ...giving({ calls: [PARIS], content: '' })({
    'llama, bare': P,
    'llama, end token': `${P}<|eot_id|>`,
    'llama, eom': `<|python_tag|>${P}<|eom_id|>`,
    'llama, assistant header': `<|start_header_id|>assistant<|end_header_id|>\n\n${P}<|eot_id|>`,
    'llama, type key': '{"type": "function", "name": "get_weather", "parameters": {"city": "Paris"}}',
    'llama, function key': '{"type": "function", "function": {"name": "get_weather", "parameters": {"city": "Paris"}}}',
    'llama, pretty': '{\n    "name": "get_weather",\n    "parameters": {\n        "city": "Paris"\n    }\n}',
    'llama, missing brace': '{"name": "get_weather", "parameters": {"city": "Paris"}',
    'llama, function tag': '<function=get_weather>{"city": "Paris"}</function>',
    'llama, function tag with eom': '<function=get_weather>{"city": "Paris"}</function><|eom_id|>',
    'llama, unclosed function tag': '<function=get_weather{"city": "Paris"}</function>',
    'llama, function tag without closer': '<function=get_weather>{"city": "Paris"}',
    'llama, python tag with a call': '<|python_tag|>get_weather(city="Paris")',
    'llama, parameters as text': '{"name": "get_weather", "parameters": "{\\"city\\": \\"Paris\\"}"}',
    'llama, invented result': `${P}<|eom_id|><|start_header_id|>ipython<|end_header_id|>\n\n{"temp": 21}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nIt is 21.`,
    'llama, fence without language': `\`\`\`\n${P}\n\`\`\``,
    'llama, unclosed fence': `\`\`\`json\n${P}\n`,
    'llama, flattened': '{"name": "get_weather", "city": "Paris"}',
    pythonic: '[get_weather(city="Paris")]',
    'pythonic, single quotes': "[get_weather(city='Paris')]",
    'pythonic, end token': '[get_weather(city="Paris")]<|eot|>',
    'pythonic, python tags': '<|python_start|>[get_weather(city="Paris")]<|python_end|>',
    'pythonic, missing bracket': '[get_weather(city="Paris")',
    'pythonic, single without list': 'get_weather(city="Paris")',
    'pythonic, in a python fence, alone': '```python\n[get_weather(city="Paris")]\n```',
    'pythonic, trailing comma': "[get_weather(city='Paris',),]",
    'pythonic, spread object': "[get_weather(**{'city': 'Paris'})]",
    'mistral, array': `[TOOL_CALLS][${PARIS_JSON}]`,
    'mistral, with ids': '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "a1b2c3d4e"}]',
    'mistral, object': `[TOOL_CALLS]${PARIS_JSON}`,
    'mistral, args token': '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}',
    'mistral, call id': '[TOOL_CALLS]get_weather[CALL_ID]abc123def[ARGS]{"city": "Paris"}',
    'mistral, without args token': '[TOOL_CALLS]get_weather{"city": "Paris"}',
    'mistral, invented results': `[TOOL_CALLS][${PARIS_JSON}][TOOL_RESULTS]{"content": 21}[/TOOL_RESULTS]It is 21.`,
    'mistral, token lost': `[${PARIS_JSON}]`,
    'granite, function_call': `<function_call> ${PARIS_JSON}`,
    'granite, token and list': `<|tool_call|>[${PARIS_JSON}]`,
    'granite, token and object': `<|tool_call|> ${PARIS_JSON}`,
    'granite 4': `<tool_call>\n${PARIS_JSON}\n</tool_call><|end_of_text|>`,
    'xlam, tool_calls': `{"tool_calls": [${PARIS_JSON}]}`,
    'xlam, OpenAI inner shape':
      '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}]}',
    'phi 4': `<|tool_call|>[${PARIS_JSON}]<|/tool_call|>`,
    'phi 4, functools': `functools[${PARIS_JSON}]`,
    nemotron: `<TOOLCALL>[${PARIS_JSON}]</TOOLCALL>`,
    jamba: `<tool_calls>[\n  ${PARIS_JSON}\n]</tool_calls>`,
    'functionary 3': '>>>get_weather\n{"city": "Paris"}',
    'functionary 2': '<|from|>assistant\n<|recipient|>get_weather\n<|content|>{"city": "Paris"}<|stop|>',
    'functionary 3.1': '<function=get_weather>{"city": "Paris"}</function><|eom_id|>',
    'lm studio': `[TOOL_REQUEST]\n${PARIS_JSON}\n[END_TOOL_REQUEST]`,
    longcat: `<longcat_tool_call>${PARIS_JSON}</longcat_tool_call>`,
  }),
  ...giving({ calls: [PARIS, LONDON], content: '' })({
    'llama, semicolon': `${P}; ${L}`,
    'llama, semicolon, no space': `${P};${L}`,
    'llama, python tag with semicolon': `<|python_tag|>${P}; ${L}<|eom_id|>`,
    'llama, lines': `${P}\n${L}`,
    'llama, blank line between': `${P}\n\n${L}`,
    'llama, two fences': `\`\`\`json\n${P}\n\`\`\`\n\n\`\`\`json\n${L}\n\`\`\``,
    'llama, array in a fence': `\`\`\`json\n[${P}, ${L}]\n\`\`\``,
    'pythonic, two': "[get_weather(city='Paris'), get_weather(city='London')]",
    'mistral, spaces and end': `[TOOL_CALLS] [${PARIS_JSON}, ${LONDON_JSON}]</s>`,
    'mistral, two': '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}[TOOL_CALLS]get_weather[ARGS]{"city": "London"}</s>',
    'granite, two': `<function_call> ${PARIS_JSON} <function_call> ${LONDON_JSON}<|endoftext|>`,
    'xlam, fence': `\`\`\`json\n{"tool_calls": [${PARIS_JSON}, ${LONDON_JSON}]}\n\`\`\``,
    olmo: '<function_calls>\nget_weather(city="Paris")\nget_weather(city="London")\n</function_calls>',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', metric: true })], content: '' })({
    'llama, Python literals': "{'name': 'get_weather', 'parameters': {'city': 'Paris', 'metric': True}}",
  }),
  ...giving({ calls: [PARIS], content: 'I will use the weather tool.' })({
    'llama, prose then call': `I will use the weather tool.\n\n${P}`,
  }),
  { title: 'llama, prose then call in the line', text: `Let me check: ${P}`, calls: [PARIS], content: 'Let me check:' },
  ...giving({ calls: [PARIS], content: 'This will return the weather in Paris.' })({
    'llama, call then prose': `${P}\n\nThis will return the weather in Paris.`,
  }),
  ...giving({ calls: [PARIS, TIME], content: '' })({
    'llama, two function tags': '<function=get_weather>{"city": "Paris"}</function>\n<function=get_time>{}</function>',
    'pythonic, over lines': "[\n    get_weather(city='Paris'),\n    get_time()\n]",
    'pythonic, lines without list': 'get_weather(city="Paris")\nget_time()',
    'granite, tag and list': `<tool_call>[${PARIS_JSON}, ${TIME_JSON}]`,
    'xlam, tool_thought':
      '[{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "get_time", "arguments": {}}]',
    apertus: '<|tools_prefix|>[{"get_weather": {"city": "Paris"}}, {"get_time": {}}]<|tools_suffix|>',
  }),
  ...giving({ calls: [call('web_search', { query: 'weather in Paris' })], content: '' })({
    'llama, builtin': '<|python_tag|>web_search.call(query="weather in Paris")<|eom_id|>',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: '3' })], content: '' })({
    'llama, numbers as text stay': '{"name": "get_weather", "parameters": {"city": "Paris", "days": "3"}}',
  }),
  ...giving({ calls: [PARIS], content: "I'll call the function.\n\nThat gives us the weather." })({
    'llama, fence and prose': `I'll call the function.\n\n\`\`\`json\n${P}\n\`\`\`\n\nThat gives us the weather.`,
  }),
  ...giving({ calls: [], content: '', malformed: ['truncated'] })({
    'llama, cut off': '{"name": "write_file", "parameters": {"path": "a", "content": "abc',
  }),
  ...giving({ calls: [call('math.factorial', { number: 5 })], content: '' })({
    'pythonic, dotted name': '[math.factorial(number=5)]',
    'pythonic, dotted name as underscore': '[math_factorial(number=5)]',
  }),
  ...giving({ calls: [call('set_light', { room: 'den', on: true, level: -0.5 })], content: '' })({
    'pythonic, literals': "[set_light(room='den', on=True, level=-0.5)]",
  }),
  ...giving({
    calls: [call('create_user', { name: 'Bo', address: { zip: '1', lines: ['a', 'b'] }, tags: [1, 2.5, null] })],
    content: '',
  })({
    'pythonic, nested': "[create_user(name='Bo', address={'zip': '1', 'lines': ['a', 'b']}, tags=[1, 2.5, None])]",
  }),
  ...giving({ calls: [call('create_user', { name: 'Bo', tags: [1, 2] })], content: '' })({
    'pythonic, tuple': "[create_user(name='Bo', tags=(1, 2))]",
  }),
  ...giving({ calls: [call('terminal', { command: "echo 'a'\n" })], content: '' })({
    'pythonic, escapes': "[terminal(command='echo \\'a\\'\\n')]",
  }),
  ...giving({ calls: [call('terminal', { command: '(cd a; ls) | wc' })], content: '' })({
    'pythonic, parentheses in text': '[terminal(command="(cd a; ls) | wc")]',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: 3 })], content: '' })({
    'pythonic, positional': "[get_weather('Paris', 3)]",
  }),
  { title: 'pythonic, no arguments', text: '[get_time()]', calls: [TIME], content: '' },
  { title: 'pythonic, prose before', text: 'Sure!\n[get_weather(city="Paris")]', calls: [PARIS], content: 'Sure!' },
  ...giving({ calls: [PARIS], content: 'This gets the weather.' })({
    'pythonic, prose after': '[get_weather(city="Paris")]\n\nThis gets the weather.',
  }),
  ...giving({ calls: [call('write_file', { path: 'a', content: "x\n'y'\n" })], content: '' })({
    'pythonic, triple quotes': "[write_file(path='a', content='''x\n'y'\n''')]",
  }),
  ...giving({ calls: [call('write_file', { path: 'a', content: 'xy' })], content: '' })({
    'pythonic, adjacent strings': "[write_file(path='a', content='x'\n 'y')]",
  }),
  ...giving({ calls: [call('search_files', { pattern: '\\d+' })], content: '' })({
    'pythonic, raw string': "[search_files(pattern=r'\\d+')]",
  }),
  ...giving({ calls: [PARIS], content: 'Let me see.' })({
    'mistral, prose before': 'Let me see.[TOOL_CALLS]get_weather{"city": "Paris"}',
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'weather' })({
    'mistral, thinking': '[THINK]weather[/THINK][TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}',
  }),
  { title: 'xlam, empty', text: '[]', calls: [], content: '[]' },
  ...giving({ calls: [PARIS], content: 'Let me check.' })({
    'functionary 3, all then call': '>>>all\nLet me check.\n>>>get_weather\n{"city": "Paris"}',
  }),
  ...giving({ calls: [PARIS], content: 'Let me look.' })({
    internlm: `Let me look.<|action_start|><|plugin|>\n${P}<|action_end|>\n`,
  }),
  { title: 'call: of a terminal', text: 'call:terminal{command: "ls -la"}', calls: [LS], content: '' },
];

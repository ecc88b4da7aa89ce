/** Raw emissions of Gemma, DeepSeek, Kimi, Cohere, LFM2, gpt-oss and of ReAct prompting. */
import { type Case, call, giving, LONDON, LS, PARIS, PARIS_JSON, TIME } from '../tools.ts';

const CALLS = ['<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>'] as const;
const v3 = (name: string, json: string): string =>
  `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${json}\n\`\`\`<｜tool▁call▁end｜>`;
const v31 = (name: string, json: string): string =>
  `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json}<｜tool▁call▁end｜>`;
const kimi = (name: string, index: number, json: string): string =>
  `<|tool_call_begin|>functions.${name}:${index}<|tool_call_argument_begin|>${json}<|tool_call_end|>`;
const HARMONY = '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Paris"}';

export const GEMMA_DEEPSEEK: readonly Case[] = [
  ...giving({ calls: [PARIS], content: '' })({
    'gemma, call': 'call:get_weather{city: "Paris"}',
    'gemma, call, JSON keys': 'call:get_weather{"city": "Paris"}',
    'gemma, call, single quotes': "call:get_weather{city: 'Paris'}",
    'gemma, end of turn': 'call:get_weather{city: "Paris"}<end_of_turn>',
    'gemma, call in tool_call': '<tool_call>call:get_weather{city: "Paris"}</tool_call>',
    'gemma, tool_code': '```tool_code\nget_weather(city="Paris")\n```',
    'gemma, tool_code, print': '```tool_code\nprint(get_weather(city="Paris"))\n```',
    'gemma, tool_code, default_api': '```tool_code\nprint(default_api.get_weather(city="Paris"))\n```',
    'gemma, tool_code, assignment and comment': '```tool_code\n# look it up\nresult = get_weather(city="Paris")\n```',
    'gemma, tool_code, unclosed': '```tool_code\nget_weather(city="Paris")',
    'gemma, tool_code, invented output':
      '```tool_code\nget_weather(city="Paris")\n```\n```tool_output\n21\n```\nIt is 21 degrees.',
    'gemma 3, list': '[get_weather(city="Paris")]',
    'gemma 3, json fence': '```json\n{"name": "get_weather", "parameters": {"city": "Paris"}}\n```',
    functiongemma: '<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call>',
    'gemma 4': '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>',
    'deepseek v3': `${CALLS[0]}${v3('get_weather', '{"city": "Paris"}')}${CALLS[1]}`,
    'deepseek v3, missing ends': `${CALLS[0]}<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n\`\`\`json\n{"city": "Paris"}\n\`\`\``,
    'deepseek v3, ascii pipes':
      '<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>get_weather\n```json\n{"city": "Paris"}\n```<|tool▁call▁end|><|tool▁calls▁end|>',
    'deepseek v3.1': `${CALLS[0]}${v31('get_weather', '{"city": "Paris"}')}${CALLS[1]}`,
    'deepseek, invented output': `${CALLS[0]}${v31('get_weather', '{"city": "Paris"}')}${CALLS[1]}<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>21<｜tool▁output▁end｜><｜tool▁outputs▁end｜>It is 21.`,
    kimi: `<|tool_calls_section_begin|>${kimi('get_weather', 0, '{"city": "Paris"}')}<|tool_calls_section_end|>`,
    'kimi, no section': kimi('get_weather', 0, '{"city": "Paris"}'),
    'cohere r':
      'Action: ```json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": {\n            "city": "Paris"\n        }\n    }\n]```',
    lfm2: '<|tool_call_start|>[get_weather(city="Paris")]<|tool_call_end|>',
    'lfm2, JSON': `<|tool_call_start|>[${PARIS_JSON}]<|tool_call_end|>`,
    'lfm2, tokens lost': '[get_weather(city="Paris")]',
    'gpt-oss, no analysis': `${HARMONY}<|call|>`,
    'gpt-oss, no call token': HARMONY,
    'gpt-oss, recipient in the start':
      '<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>{"city":"Paris"}<|call|>',
    'gpt-oss, code constraint':
      '<|channel|>commentary to=functions.get_weather code<|message|>{"city":"Paris"}<|call|>',
    'react, observation':
      'Action: get_weather\nAction Input: {"city": "Paris"}\nObservation: 21 degrees\nThought: done\nFinal Answer: 21',
    'react, bold': '**Action:** get_weather\n**Action Input:** {"city": "Paris"}',
    'react, call on the line': 'Action: get_weather(city="Paris")',
    'react, fence': 'Action: get_weather\nAction Input:\n```json\n{"city": "Paris"}\n```',
    'react, JSON blob': `Action:\n\`\`\`\n{"action": "get_weather", "action_input": {"city": "Paris"}}\n\`\`\``,
    'labels, function': 'Function: get_weather\nParameters: {"city": "Paris"}',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: 3, metric: true })], content: '' })({
    'gemma, call, bare words': 'call:get_weather{city: Paris, days: 3, metric: true}',
  }),
  { title: 'gemma, call, no arguments', text: 'call:get_time{}', calls: [TIME], content: '' },
  ...giving({ calls: [PARIS], content: 'Okay, I will look.' })({
    'gemma, call, prose before': 'Okay, I will look.\ncall:get_weather{city: "Paris"}',
  }),
  ...giving({ calls: [PARIS], content: 'Okay:' })({
    'gemma, call, end of a line': 'Okay: call:get_weather{city: "Paris"}',
  }),
  ...giving({ calls: [PARIS, LONDON], content: '' })({
    'gemma, two calls': 'call:get_weather{city: "Paris"}\ncall:get_weather{city: "London"}',
    'gemma, two calls on a line': 'call:get_weather{city: "Paris"} call:get_weather{city: "London"}',
    'gemma, tool_code, two': '```tool_code\nget_weather(city="Paris")\nget_weather(city="London")\n```',
    'functiongemma, two':
      '<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call><start_function_call>call:get_weather{city:<escape>London<escape>}<end_function_call>',
    'deepseek v3, two': `${CALLS[0]}${v3('get_weather', '{"city": "Paris"}')}\n${v3('get_weather', '{"city": "London"}')}${CALLS[1]}<｜end▁of▁sentence｜>`,
  }),
  ...giving({ calls: [PARIS], content: 'I need the weather.\n\nThen I can tell you.' })({
    'gemma, tool_code, prose around':
      'I need the weather.\n```tool_code\nget_weather(city="Paris")\n```\nThen I can tell you.',
  }),
  ...giving({ calls: [call('set_light', { room: 'den', on: true, level: 0.5 })], content: '' })({
    'functiongemma, types':
      '<start_function_call>call:set_light{room:<escape>den<escape>,on:true,level:0.5}<end_function_call><start_function_response>',
  }),
  ...giving({ calls: [call('terminal', { command: 'echo {a,b}"x"' })], content: '' })({
    'functiongemma, braces in text':
      '<start_function_call>call:terminal{command:<escape>echo {a,b}"x"<escape>}<end_function_call>',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: 2 }), TIME], content: '' })({
    'gemma 4, two and types':
      '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:2}<tool_call|><|tool_call>call:get_time{}<tool_call|>',
  }),
  ...giving({ calls: [call('create_user', { name: 'Bo', address: { zip: '1' }, tags: ['a', 'b'] })], content: '' })({
    'gemma 4, nested':
      '<|tool_call>call:create_user{name:<|"|>Bo<|"|>,address:{zip:<|"|>1<|"|>},tags:[<|"|>a<|"|>,<|"|>b<|"|>]}<tool_call|>',
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'Weather it is.' })({
    'gemma 4, thought':
      '<|channel>thought\nWeather it is.<channel|><|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>',
  }),
  ...giving({ calls: [PARIS], content: 'Let me see.' })({
    'deepseek v3, prose': `Let me see.${CALLS[0]}${v3('get_weather', '{"city": "Paris"}')}${CALLS[1]}`,
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'hm' })({
    'deepseek r1': `<think>\nhm\n</think>\n\n${CALLS[0]}${v3('get_weather', '{"city": "Paris"}')}${CALLS[1]}`,
  }),
  ...giving({ calls: [PARIS, TIME], content: '' })({
    'deepseek v3.1, two': `${CALLS[0]}${v31('get_weather', '{"city": "Paris"}')}${v31('get_time', '{}')}${CALLS[1]}`,
    'cohere, two':
      '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}, {"tool_call_id": "1", "tool_name": "get_time", "parameters": {}}]<|END_ACTION|><|END_OF_TURN_TOKEN|>',
  }),
  ...giving({ calls: [PARIS, LONDON], content: "I'll check both." })({
    'kimi, two': `I'll check both.<|tool_calls_section_begin|>${kimi('get_weather', 0, '{"city": "Paris"}')}${kimi('get_weather', 1, '{"city": "London"}')}<|tool_calls_section_end|><|im_end|>`,
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'weather' })({
    'kimi, triangles': `◁think▷weather◁/think▷<|tool_calls_section_begin|>${kimi('get_weather', 0, '{"city": "Paris"}')}<|tool_calls_section_end|>`,
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'I will look it up.' })({
    'cohere 7b':
      '<|START_THINKING|>I will look it up.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}\n]<|END_ACTION|>',
  }),
  ...giving({ calls: [], content: 'Hello there.' })({
    'cohere, response': '<|START_RESPONSE|>Hello there.<|END_RESPONSE|>',
  }),
  ...giving({ calls: [PARIS], content: 'Plan: I will search.' })({
    'cohere r, plan':
      'Plan: I will search.\nAction: ```json\n[{"tool_name": "get_weather", "parameters": {"city": "Paris"}}]\n```',
  }),
  ...giving({ calls: [PARIS], content: 'Checking the weather in Paris.' })({
    'lfm2, chatter':
      '<|tool_call_start|>[get_weather(city="Paris")]<|tool_call_end|>Checking the weather in Paris.<|im_end|>',
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'They want weather.' })({
    'gpt-oss': `<|channel|>analysis<|message|>They want weather.<|end|><|start|>assistant${HARMONY}<|call|>`,
  }),
  ...giving({ calls: [PARIS], content: 'Looking it up.' })({
    'gpt-oss, preamble': `<|channel|>commentary<|message|>Looking it up.<|end|><|start|>assistant${HARMONY}<|call|>`,
  }),
  ...giving({ calls: [], content: 'Hello!', reasoning: 'Easy.' })({
    'gpt-oss, final':
      '<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>Hello!<|return|>',
  }),
  ...giving({ calls: [], content: '', reasoning: 'Hm, get_weather(city="Paris")' })({
    'gpt-oss, unclosed analysis': '<|channel|>analysis<|message|>Hm, get_weather(city="Paris")',
  }),
  ...giving({ calls: [], content: '', malformed: ['unknown-tool'] })({
    'gpt-oss, unknown tool': '<|channel|>commentary to=functions.fly <|constrain|>json<|message|>{}<|call|>',
  }),
  ...giving({ calls: [PARIS], content: 'Thought: I need the weather.' })({
    react: 'Thought: I need the weather.\nAction: get_weather\nAction Input: {"city": "Paris"}',
  }),
  ...giving({ calls: [call('math.factorial', { number: 5 })], content: '' })({
    'react, text input': 'Action: math.factorial\nAction Input: 5\n',
  }),
  { title: 'labels', text: 'Tool: terminal\nArguments: {"command": "ls -la"}', calls: [LS], content: '' },
];

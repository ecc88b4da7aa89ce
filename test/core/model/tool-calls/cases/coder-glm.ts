/** Raw emissions with typeless, XML-like values: Qwen3-Coder, Seed-OSS, GLM 4.5, Anthropic-like, MiniMax, DSML. */
import { type Case, call, giving, LONDON, PARIS, TIME } from '../tools.ts';

const weather = (city: string): string =>
  `<function=get_weather>\n<parameter=city>\n${city}\n</parameter>\n</function>`;

export const CODER_GLM: readonly Case[] = [
  ...giving({ calls: [PARIS], content: '' })({
    'coder, plain': `<tool_call>\n${weather('Paris')}\n</tool_call>`,
    'coder, no tool_call': weather('Paris'),
    'coder, close tag only': `${weather('Paris')}\n</tool_call>`,
    'coder, one line': '<tool_call><function=get_weather><parameter=city>Paris</parameter></function></tool_call>',
    'coder, missing last parameter closer':
      '<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</function>\n</tool_call>',
    'coder, missing function closer':
      '<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</tool_call>',
    'coder, missing all closers': '<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n',
    'coder, JSON body': '<tool_call>\n<function=get_weather>\n{"city": "Paris"}\n</function>\n</tool_call>',
    'coder, name attribute': '<function name="get_weather">\n<parameter name="city">Paris</parameter>\n</function>',
    'coder, quoted name': '<function="get_weather">\n<parameter="city">Paris</parameter>\n</function>',
    seed: `<seed:tool_call>\n${weather('Paris')}\n</seed:tool_call>`,
    'glm 4.5': '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>',
    'glm 4.7, no line breaks': '<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>',
    'glm, missing key closer': '<tool_call>get_weather\n<arg_key>city<arg_value>Paris</arg_value>\n</tool_call>',
    'glm, missing close tag': '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>',
    'glm, end token':
      '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call><|observation|>',
    'glm 4, name line': 'get_weather\n{"city": "Paris"}',
    'glm 4, leading line break': '\nget_weather\n{"city": "Paris"}<|observation|>',
    'glm 4, assistant token': '<|assistant|>get_weather\n{"city": "Paris"}',
    hunyuan:
      '<tool_calls>\n<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>\n</tool_calls>',
    invoke:
      '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n</function_calls>',
    'invoke, vendor prefix':
      '<x:function_calls>\n<x:invoke name="get_weather">\n<x:parameter name="city">Paris</x:parameter>\n</x:invoke>\n</x:function_calls>',
    'invoke, missing outer closer':
      '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>',
    'step 3':
      '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather"><steptml:parameter name="city">Paris</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
    'element named after the tool': '<get_weather>\n<city>Paris</city>\n</get_weather>',
    minicpm: '<function name="get_weather"><param name="city"><![CDATA[Paris]]></param></function>',
  }),
  ...giving({ calls: [PARIS, LONDON], content: '' })({
    'coder, two': `<tool_call>\n${weather('Paris')}\n</tool_call>\n<tool_call>\n${weather('London')}\n</tool_call>`,
    'coder, two in one tag': `<tool_call>\n${weather('Paris')}\n${weather('London')}\n</tool_call>`,
    'glm, two':
      '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>London</arg_value>\n</tool_call>',
    'glm 4, two': 'get_weather\n{"city": "Paris"}\nget_weather\n{"city": "London"}',
    'invoke, two':
      '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n<invoke name="get_weather">\n<parameter name="city">London</parameter>\n</invoke>\n</function_calls>',
  }),
  ...giving({ calls: [PARIS], content: 'I will check.' })({
    'coder, prose before': `I will check.\n\n${weather('Paris')}`,
    'glm 4, prose first': 'I will check.\nget_weather\n{"city": "Paris"}',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: 3 })], content: '' })({
    'coder, integer':
      '<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>',
    'coder, missing parameter closer':
      '<function=get_weather>\n<parameter=city>\nParis\n<parameter=days>\n3\n</parameter>\n</function>',
    dsml: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  }),
  ...giving({ calls: [call('set_light', { room: '12', on: true })], content: '' })({
    'coder, boolean':
      '<function=set_light>\n<parameter=room>\n12\n</parameter>\n<parameter=on>\ntrue\n</parameter>\n</function>',
  }),
  ...giving({ calls: [call('set_light', { on: false, level: 0.5 })], content: '' })({
    'coder, Python boolean':
      '<function=set_light>\n<parameter=on>\nFalse\n</parameter>\n<parameter=level>\n0.5\n</parameter>\n</function>',
  }),
  ...giving({ calls: [call('search_files', { paths: ['src', 'test'] })], content: '' })({
    'coder, array': '<function=search_files>\n<parameter=paths>\n["src", "test"]\n</parameter>\n</function>',
    'coder, Python array': "<function=search_files>\n<parameter=paths>\n['src', 'test']\n</parameter>\n</function>",
  }),
  ...giving({ calls: [call('terminal', { command: 'env', env: { A: '1' } })], content: '' })({
    'coder, object':
      '<function=terminal>\n<parameter=command>\nenv\n</parameter>\n<parameter=env>\n{"A": "1"}\n</parameter>\n</function>',
    'dsml, object value':
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="terminal">\n<｜DSML｜parameter name="command" string="true">env</｜DSML｜parameter>\n<｜DSML｜parameter name="env" string="false">{"A": "1"}</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  }),
  ...giving({ calls: [call('search_files', { limit: null })], content: '' })({
    'coder, null for a nullable integer': '<function=search_files>\n<parameter=limit>\nnull\n</parameter>\n</function>',
  }),
  ...giving({ calls: [call('get_weather', { days: 'three' })], content: '' })({
    'coder, not a number': '<function=get_weather>\n<parameter=days>\nthree\n</parameter>\n</function>',
  }),
  ...giving({ calls: [call('get_weather', { city: '12345' })], content: '' })({
    'coder, text of digits stays text': '<function=get_weather>\n<parameter=city>\n12345\n</parameter>\n</function>',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', mood: '5' })], content: '' })({
    'coder, undeclared parameter':
      '<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=mood>\n5\n</parameter>\n</function>',
  }),
  ...giving({
    calls: [call('write_file', { path: 'a.py', content: 'def f():\n    return "<b>"\n\nprint(f())' })],
    content: '',
  })({
    'coder, multi-line value':
      '<function=write_file>\n<parameter=path>\na.py\n</parameter>\n<parameter=content>\ndef f():\n    return "<b>"\n\nprint(f())\n</parameter>\n</function>',
  }),
  ...giving({ calls: [call('write_file', { path: 'a.json', content: '{"a": 1}' })], content: '' })({
    'coder, JSON-looking text':
      '<function=write_file>\n<parameter=path>\na.json\n</parameter>\n<parameter=content>\n{"a": 1}\n</parameter>\n</function>',
  }),
  ...giving({ calls: [TIME], content: '' })({
    'coder, no parameters': '<tool_call>\n<function=get_time>\n</function>\n</tool_call>',
    'glm, no arguments': '<tool_call>get_time\n</tool_call>',
    'glm 4, empty arguments': 'get_time\n{}',
    'invoke, invented result':
      '<function_calls>\n<invoke name="get_time">\n</invoke>\n</function_calls>\n<function_results>\n12:00\n</function_results>\nIt is noon.',
  }),
  ...giving({ calls: [], content: '', malformed: ['truncated'] })({
    'coder, cut off in a value':
      '<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nhello wor',
  }),
  ...giving({ calls: [], malformed: ['unknown-tool'] })({
    'coder, unknown function':
      '<tool_call>\n<function=fly>\n<parameter=to>\nParis\n</parameter>\n</function>\n</tool_call>',
  }),
  ...giving({ calls: [PARIS], content: 'Let me wait for it.' })({
    'coder, then chatter': `<tool_call>\n${weather('Paris')}\n</tool_call>\nLet me wait for it.`,
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'They want Paris.' })({
    'seed with thinking': `<seed:think>\nThey want Paris.\n</seed:think>\n<seed:tool_call>\n${weather('Paris')}\n</seed:tool_call>`,
  }),
  ...giving({ calls: [PARIS] })({
    'glm 4.5, prose first':
      '\nI will look it up.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>',
  }),
  ...giving({ calls: [call('set_light', { room: '7', on: true, level: 0.25 })], content: '' })({
    'glm 4.5, typed':
      '<tool_call>set_light\n<arg_key>room</arg_key>\n<arg_value>7</arg_value>\n<arg_key>on</arg_key>\n<arg_value>true</arg_value>\n<arg_key>level</arg_key>\n<arg_value>0.25</arg_value>\n</tool_call>',
  }),
  ...giving({ calls: [call('send-email', { to: ['a@b.c'], subject: 'Hi' })], content: '' })({
    'glm 4.5, array':
      '<tool_call>send-email\n<arg_key>to</arg_key>\n<arg_value>["a@b.c"]</arg_value>\n<arg_key>subject</arg_key>\n<arg_value>Hi</arg_value>\n</tool_call>',
  }),
  ...giving({ calls: [call('write_file', { path: 'a.py', content: 'a\n\nb' })], content: '' })({
    'glm, multi-line value':
      '<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value>\n<arg_key>content</arg_key>\n<arg_value>a\n\nb</arg_value>\n</tool_call>',
  }),
  ...giving({ calls: [call('get_weather', { city: 'Paris', days: 2 })], content: '' })({
    'glm 4, pretty JSON': 'get_weather\n{\n  "city": "Paris",\n  "days": 2\n}',
    'minimax m2':
      '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n<parameter name="days">2</parameter>\n</invoke>\n</minimax:tool_call>',
    'element named after the tool, in a container':
      '<tool_call>\n<get_weather>\n<city>Paris</city>\n<days>2</days>\n</get_weather>\n</tool_call>',
  }),
  ...giving({ calls: [PARIS], content: 'Looking.' })({
    'invoke, no container':
      'Looking.\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>',
  }),
  ...giving({ calls: [call('get_weather', { city: '75001', days: 3, metric: true })], content: '' })({
    'invoke, typed':
      '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">75001</parameter>\n<parameter name="days">3</parameter>\n<parameter name="metric">true</parameter>\n</invoke>\n</function_calls>',
  }),
  ...giving({ calls: [PARIS], reasoning: 'weather' })({
    'minimax m2 with thinking':
      '<think>\nweather\n</think>\n\n<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n</minimax:tool_call>[e~[',
  }),
  ...giving({ calls: [PARIS, TIME], content: '' })({
    'minimax m1':
      '<tool_calls>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n{"name": "get_time", "arguments": {}}\n</tool_calls>',
  }),
  ...giving({ calls: [PARIS, LONDON], content: 'Both.' })({
    'dsml, two and prose':
      'Both.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">London</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls><｜end▁of▁sentence｜>',
  }),
  ...giving({ calls: [call('get_weather', { city: '42' })], content: '' })({
    'dsml, string true keeps digits':
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">42</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  }),
];

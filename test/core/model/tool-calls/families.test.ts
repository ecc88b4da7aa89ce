import assert from 'node:assert/strict';
import { parseTextCalls, parseTextToolCalls } from '#core/model/tool-calls/text-call-parser.ts';
import { parseTextToolCalls as publicEntry } from '#public/tool-calls.ts';
import { verifies } from '../../../verifies.ts';
import { CODER_GLM } from './cases/coder-glm.ts';
import { CUT_OFF } from './cases/exact-values.ts';
import { GEMMA_DEEPSEEK } from './cases/gemma-deepseek.ts';
import { HERMES_QWEN } from './cases/hermes-qwen.ts';
import { LLAMA_MISTRAL } from './cases/llama-mistral.ts';
import { PROSE } from './cases/prose.ts';
import { PROSE_QUOTED } from './cases/prose-quoted.ts';
import { PROSE_TOKENS } from './cases/prose-tokens.ts';
import { REASONING } from './cases/reasoning.ts';
import { RENDERERS } from './renderers.ts';
import { type Case, call, LS, PARIS, PARIS_JSON, TOOLS } from './tools.ts';

/** Judges the rows whose title begins so; a family without rows would be a false green. */
function judgeFamily(rows: readonly Case[], prefix: RegExp, least: number): void {
  const family = rows.filter(({ title }) => prefix.test(title));
  assert.ok(family.length >= least, `${prefix}: ${family.length} rows`);
  for (const row of family) assert.deepEqual(parseTextCalls(row.text, TOOLS).calls, row.calls, row.title);
}

verifies('core:entry:tool-calls', 'the entry returns content and calls, nothing else', () => {
  const result = publicEntry(`Now.\n<tool_call>${PARIS_JSON}</tool_call>`, TOOLS);
  assert.deepEqual(result, { content: 'Now.', calls: [PARIS] });
  const bare = [{ name: 'ping', parameters: { type: 'object', properties: {} } }];
  assert.deepEqual(publicEntry('{"name": "ping", "arguments": {}}', bare).calls, [call('ping')]);
  assert.deepEqual(publicEntry('{"name": "ping", "arguments": {}}', []).calls, []);
});

verifies('core:strategy:text-tool-call-tag', 'a call inside <tool_call> tags', () => {
  const text = '<tool_call>{"name": "terminal", "arguments": {"command": "ls -la"}}</tool_call>';
  assert.deepEqual(parseTextToolCalls(text, TOOLS), { content: '', calls: [LS] });
});

verifies('core:strategy:text-call-name', 'call:name{…} with unquoted keys', () => {
  assert.deepEqual(parseTextToolCalls('call:terminal{command: "ls -la"}', TOOLS), { content: '', calls: [LS] });
});

verifies('core:strategy:text-fenced-json', 'a fenced JSON block', () => {
  const text = '```json\n{"name": "write_file", "arguments": {"path": "out.txt", "content": "hello"}}\n```';
  assert.deepEqual(parseTextToolCalls(text, TOOLS), {
    content: '',
    calls: [call('write_file', { path: 'out.txt', content: 'hello' })],
  });
});

verifies('core:strategy:text-content-left', 'the text around calls stays, without the space that they leave', () => {
  const text = `One.\n\n<tool_call>${PARIS_JSON}</tool_call>\n\nTwo.\n\`\`\`json\n${PARIS_JSON}\n\`\`\`\nThree.`;
  assert.equal(parseTextToolCalls(text, TOOLS).content, 'One.\n\nTwo.\n\nThree.');
});

verifies('core:strategy:hermes-qwen', 'Hermes and Qwen', () => judgeFamily(HERMES_QWEN, /./, 70));
verifies('core:strategy:qwen-coder', 'Qwen3-Coder', () => judgeFamily(CODER_GLM, /^coder/, 25));
verifies('core:strategy:glm', 'GLM', () => judgeFamily(CODER_GLM, /^glm/, 15));
verifies('core:strategy:llama', 'Llama 3', () => judgeFamily(LLAMA_MISTRAL, /^llama/, 25));
verifies('core:strategy:pythonic', 'Python-style lists', () => judgeFamily(LLAMA_MISTRAL, /^pythonic/, 20));
verifies('core:strategy:pythonic', 'names that are no identifiers', () => {
  const tools = [
    { name: 'Market Trends API', parameters: { type: 'object', properties: { trend: { type: 'string' } } } },
  ];
  const text = '[Market Trends API(trend="up")]';
  assert.deepEqual(parseTextToolCalls(text, tools).calls, [call('Market Trends API', { trend: 'up' })]);
});
verifies('core:strategy:mistral', 'Mistral', () => judgeFamily(LLAMA_MISTRAL, /^mistral/, 10));
verifies('core:strategy:granite', 'Granite', () => judgeFamily(LLAMA_MISTRAL, /^granite/, 5));
verifies('core:strategy:xlam', 'xLAM', () => judgeFamily(LLAMA_MISTRAL, /^xlam/, 4));
verifies('core:strategy:gemma', 'Gemma', () => judgeFamily(GEMMA_DEEPSEEK, /^(?:gemma|functiongemma)/, 20));
verifies('core:strategy:deepseek', 'DeepSeek', () => {
  judgeFamily(GEMMA_DEEPSEEK, /^deepseek/, 8);
  judgeFamily(CODER_GLM, /^dsml/, 4);
});
verifies('core:strategy:cohere', 'Cohere', () => judgeFamily(GEMMA_DEEPSEEK, /^cohere/, 5));
verifies('core:strategy:lfm2', 'LFM2', () => judgeFamily(GEMMA_DEEPSEEK, /^lfm2/, 4));
verifies('core:strategy:prose-is-no-call', 'prose runs nothing and stays as it is', () => {
  for (const row of [...PROSE, ...PROSE_QUOTED, ...PROSE_TOKENS]) {
    const { content, calls } = parseTextToolCalls(row.text, TOOLS);
    assert.deepEqual(calls, [], row.title);
    assert.equal(content, row.text, row.title);
  }
});
verifies('core:strategy:think-is-no-call', 'reasoning runs nothing', () => judgeFamily(REASONING, /./, 30));

verifies(
  'core:strategy:declared-tools-only',
  'an undeclared name stays text in every notation, and is reported where a container marks it',
  () => {
    const marked = [
      '<tool_call>{"name": "fly", "arguments": {}}</tool_call>',
      '<tool_call>\n<function=fly>\n</function>\n</tool_call>',
      '[TOOL_CALLS][{"name": "fly", "arguments": {}}]',
      '<|tool_call_start|>[fly(to="Rome")]<|tool_call_end|>',
    ];
    for (const text of marked) {
      const { calls, content, malformed } = parseTextCalls(text, TOOLS);
      assert.deepEqual(calls, []);
      assert.equal(content, text);
      assert.deepEqual(
        malformed.map(({ reason, name }) => [reason, name]),
        [['unknown-tool', 'fly']],
      );
    }
    for (const text of [
      '{"name": "fly", "arguments": {}}',
      '[fly(to="Rome")]',
      'fly\n{"to": "Rome"}',
      'call:fly{to: "Rome"}',
      '```json\n{"name": "fly", "arguments": {}}\n```',
    ]) {
      assert.deepEqual(parseTextCalls(text, TOOLS), { content: text, reasoning: '', calls: [], malformed: [] });
    }
  },
);

verifies(
  ['core:entry:tool-calls', 'core:strategy:text-content-left'],
  'an attempt that cannot be read stays in the content of the entry, and is reported in the stream',
  () => {
    const broken = '<tool_call>\n{"name": "terminal", "arguments": {"command" ls ;;}}\n</tool_call>';
    for (const text of [...CUT_OFF.map((row) => row.text), broken]) {
      const result = publicEntry(`Now.\n${text}`, TOOLS);
      assert.deepEqual(result.calls, []);
      assert.equal(result.content, `Now.\n${text}`.trimEnd(), text);
      const streamed = parseTextCalls(`Now.\n${text}`, TOOLS);
      assert.equal(streamed.content, 'Now.', text);
      assert.equal(streamed.malformed.length, 1, text);
    }
    const mixed = publicEntry(`<tool_call>${PARIS_JSON}</tool_call>\n${broken}`, TOOLS);
    assert.deepEqual(mixed.calls, [PARIS]);
    assert.equal(mixed.content, broken);
  },
);

verifies(
  'core:strategy:cut-call-never-runs',
  'a call that is cut off at any place never runs with half a value',
  () => {
    const whole = call('write_file', { path: 'src/a.py', content: 'if x < 1:\n    print({"a": [1, 2]})\n' });
    const truth = new Set(Object.values(whole.arguments));
    for (const [family, render] of Object.entries(RENDERERS)) {
      const text = render([whole]);
      for (let end = 1; end < text.length; end += 1) {
        for (const { name, arguments: args } of publicEntry(text.slice(0, end), TOOLS).calls) {
          const told = `${family}: ${text.slice(0, end)}`;
          assert.equal(name, whole.name, told);
          assert.deepEqual(new Set(Object.values(args)), truth, told);
        }
      }
    }
  },
);

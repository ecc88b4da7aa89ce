import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';
import { type Result, refuse } from '#base/result.ts';
import { defineTool } from '#core/agent/tool.ts';
import { createFileTools } from '#core/tools/files/file-tools.ts';
import { createClarifyTool, createTodoTool } from '#core/tools/talk-tools.ts';
import { createTerminalTool } from '#core/tools/terminal/terminal-tool.ts';
import { lenientInput } from '#core/tools/tool-cards.ts';
import { createToolRegistry, functionSchema, resolveToolsets } from '#core/tools/tool-registry.ts';
import { createWebFetchTool } from '#core/tools/web-fetch-tool.ts';
import { createPlainWalls } from '../../doubles/plain-walls.ts';
import { verifies } from '../../verifies.ts';

const simple = (name: string, toolset = 'x', available?: () => Result<true>) =>
  defineTool({
    name,
    description: `does ${name}`,
    input: z.object({ a: z.string().min(1).describe('the a'), n: z.int().max(5).default(3) }),
    toolset,
    effect: 'read',
    run: async () => ({ text: name }),
    ...(available ? { available } : {}),
  });

const everyTool = () => [
  ...createTerminalTool({ walls: createPlainWalls(), env: {} }).tools,
  ...createFileTools(),
  createTodoTool(),
  createClarifyTool(),
  createWebFetchTool(),
];

describe('core/tools/registry', () => {
  verifies(['core:tools:entry', 'core:tools:dispatch'], 'holds tools by name and refuses a name that is taken', () => {
    const registry = createToolRegistry();
    const tool = simple('one');
    registry.register(tool);
    assert.equal(registry.get('one'), tool);
    assert.equal(registry.get('two'), undefined);
    assert.throws(() => registry.register(simple('one')), { code: 'tool-name-taken' });
    assert.throws(() => registry.register(simple('no good')), { code: 'tool-name-invalid' });
  });

  verifies(
    ['core:tools:schemas', 'core:tools:stable-order'],
    'gives short schemas, the same bytes for any order of registration',
    () => {
      const texts = [everyTool(), [...everyTool()].reverse()].map((tools) => {
        const registry = createToolRegistry();
        for (const tool of tools) registry.register(tool);
        const selected = registry.select(['all']);
        assert.ok(selected.ok);
        return JSON.stringify(selected.value.schemas);
      });
      assert.equal(texts[0], texts[1]);
      assert.deepEqual(functionSchema(simple('one')).parameters, {
        type: 'object',
        properties: { a: { type: 'string', description: 'the a' }, n: { type: 'integer' } },
        required: ['a'],
      });
      const tool = simple('two');
      assert.equal(functionSchema(tool), functionSchema(tool));
    },
  );

  verifies(
    ['core:tools:filter-by-toolset', 'core:toolset:composable', 'core:web-fetch:off-by-default'],
    'selects by toolsets that include others',
    () => {
      const registry = createToolRegistry();
      for (const tool of everyTool()) registry.register(tool);
      const names = (toolsets: readonly string[]) => {
        const selected = registry.select(toolsets);
        return selected.ok ? selected.value.tools.map(({ name }) => name) : selected.reason;
      };
      assert.deepEqual(names(['default']), [
        'clarify',
        'patch',
        'process',
        'read_file',
        'search_files',
        'terminal',
        'todo',
        'write_file',
      ]);
      assert.deepEqual(names(['read-only']), ['read_file', 'search_files']);
      assert.deepEqual(names(['file', 'web']), ['patch', 'read_file', 'search_files', 'web_fetch', 'write_file']);
      assert.equal(names(['nope']), 'unknown-toolset');
      registry.register(simple('mcp_tool', 'mcp'));
      assert.deepEqual(names(['mcp']), ['mcp_tool']);
    },
  );

  it('takes toolsets from outside, and refuses circles and unknown names with their way', () => {
    const registry = createToolRegistry();
    assert.ok(registry.addToolsets({ mine: { about: 'm', includes: ['file'] } }).ok);
    const circle = registry.addToolsets({ a: { about: 'a', includes: ['b'] }, b: { about: 'b', includes: ['a'] } });
    assert.ok(!circle.ok && circle.reason === 'toolset-circle' && circle.detail.includes('a → b → a'));
    const unknown = registry.addToolsets({ c: { about: 'c', includes: ['nowhere'] } });
    assert.ok(!unknown.ok && /"nowhere" \(included by c\)/.test(unknown.detail));
    assert.equal(registry.select(['c']).ok, false);
    assert.ok(registry.select(['mine']).ok);
  });

  it('resolves any table', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd', '__proto__', 'constructor');
    const table = fc.dictionary(
      names,
      fc.record({ about: fc.constant(''), tools: fc.array(names), includes: fc.array(names) }),
    );
    fc.assert(
      fc.property(table, fc.array(names), (toolsets, wanted) => {
        const resolved = resolveToolsets(wanted, toolsets);
        if (resolved.ok) assert.equal(new Set(resolved.value).size, resolved.value.length);
        else assert.ok(resolved.detail.length > 0);
      }),
    );
  });

  verifies('core:tools:availability', 'leaves out what cannot be used here and says why', () => {
    const registry = createToolRegistry();
    registry.register(simple('here'));
    registry.register(simple('gone', 'x', () => refuse('missing', 'install it')));
    const selected = registry.select(['x']);
    assert.ok(selected.ok);
    assert.deepEqual(
      selected.value.tools.map(({ name }) => name),
      ['here'],
    );
    assert.deepEqual(selected.value.unavailable, [{ name: 'gone', reason: 'install it' }]);
  });

  it('mends what models send, only where there is one way to read it', () => {
    const input = lenientInput({
      path: z.string(),
      n: z.int().optional(),
      on: z.boolean().optional(),
      list: z.array(z.string()).optional(),
    });
    assert.deepEqual(input.parse({ file_path: 'a', n: '5', on: 'True', list: '["x"]' }), {
      path: 'a',
      n: 5,
      on: true,
      list: ['x'],
    });
    assert.deepEqual(input.parse({ path: 'a', n: null, on: '', list: null }), { path: 'a' });
    assert.deepEqual(input.parse({ path: '5', file: 'b' }), { path: '5' });
    assert.deepEqual(input.parse({ path: 7 }), { path: '7' });
    for (const wrong of [{ path: 'a', n: 'five' }, { path: 'a', on: 'maybe' }, {}, 'a', null, [], { path: null }]) {
      assert.equal(input.safeParse(wrong).success, false, JSON.stringify(wrong));
    }
  });

  it('keeps the built-in tools within their share of the prompt', () => {
    const tokens = (names: readonly string[]) =>
      everyTool()
        .filter(({ name }) => names.includes(name))
        .reduce(
          (sum, tool) => sum + encode(JSON.stringify({ type: 'function', function: functionSchema(tool) })).length,
          0,
        );
    const all = tokens(['terminal', 'process', 'read_file', 'write_file', 'patch', 'search_files', 'todo', 'clarify']);
    assert.ok(all <= 620, `${all} tokens`);
  });
});

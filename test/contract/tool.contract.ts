/**
 * What every tool keeps, whichever room it comes from: a short object schema, refusals as text, an end after an abort.
 * Each room runs it for its tools with a harness that says what a good call is.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { functionSchema } from '#core/tools/tool-registry.ts';
import type { AnyTool, ToolContext, ToolOutput } from '#public/talaria.ts';

export interface ToolHarness {
  readonly tool: AnyTool;
  /** Surroundings of one call; called once a test. */
  readonly context: () => ToolContext;
  /** Arguments that work in these surroundings. */
  readonly good: () => unknown;
  /** Arguments that fit the schema and cannot succeed; absent when there are none. */
  readonly hopeless?: () => unknown;
  /** Arguments of a call that would take minutes, to be aborted; absent when no call takes long. */
  readonly slow?: () => unknown;
  readonly close?: () => Promise<void>;
}

export const MAX_DESCRIPTION = 200;

export function toolContract(name: string, make: () => ToolHarness | Promise<ToolHarness>): void {
  const using = async (use: (harness: ToolHarness) => Promise<void>) => {
    const harness = await make();
    try {
      await use(harness);
    } finally {
      await harness.close?.();
    }
  };
  const run = (
    { tool, context }: ToolHarness,
    input: unknown,
    signal = new AbortController().signal,
  ): Promise<ToolOutput> => tool.run(tool.input.parse(input), context(), signal);

  describe(`tool contract: ${name}`, () => {
    it('has a name, a short description and an object schema', () =>
      using(async ({ tool }) => {
        assert.match(tool.name, /^[a-z][a-z0-9_]{0,63}$/);
        assert.ok(tool.description.length > 0 && tool.description.length <= MAX_DESCRIPTION);
        assert.match(tool.toolset, /^[a-z][\w-]*$/);
        const { parameters } = functionSchema(tool);
        assert.equal(parameters.type, 'object');
        assert.equal(typeof parameters.properties, 'object');
        assert.deepEqual(functionSchema(tool).parameters, parameters);
      }));

    it('refuses arguments that are no object', () =>
      using(async ({ tool }) => {
        for (const wrong of [null, 'text', 7, []])
          assert.equal(tool.input.safeParse(wrong).success, false, JSON.stringify(wrong));
      }));

    it('answers a good call with text', () =>
      using(async (harness) => {
        const output = await run(harness, harness.good());
        assert.equal(output.isError ?? false, false, output.text);
        assert.equal(typeof output.text, 'string');
      }));

    it('says in text why a hopeless call failed', () =>
      using(async (harness) => {
        if (!harness.hopeless) return;
        const output = await run(harness, harness.hopeless());
        assert.equal(output.isError, true);
        assert.ok(output.text.trim().length > 10);
      }));

    it('judges risk without running, and the same way twice', () =>
      using(async ({ tool, context, good }) => {
        const judge = () => tool.risk?.(tool.input.parse(good()), context()) ?? { level: 'none' };
        assert.deepEqual(judge(), judge());
      }));

    it('has a summary of one line', () =>
      using(async ({ tool, good }) => {
        const line = tool.summary?.(tool.input.parse(good())) ?? tool.name;
        assert.ok(line.length > 0 && !line.includes('\n'));
      }));

    it('stops after an abort', () =>
      using(async (harness) => {
        if (!harness.slow) return;
        const control = new AbortController();
        const running = run(harness, harness.slow(), control.signal).then(
          () => 'settled',
          () => 'settled',
        );
        setTimeout(() => control.abort(), 50);
        assert.equal(await running, 'settled');
      }));
  });
}

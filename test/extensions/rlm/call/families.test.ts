/** Families: who is there, what config.yaml adds, the presets of the seed, and how deep recursion may stand. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { z } from 'zod';
import { systemClock } from '#base/clock.ts';
import type { TurnRequest } from '#core/agent/room.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import { DEEPEST, depthOutside, openNesting } from '#extensions/rlm/call/call-limits.ts';
import { checkFamilies, openFamilies } from '#extensions/rlm/call/families.ts';
import { rlmSchema } from '#extensions/rlm/rlm-config.ts';
import type { TurnEvent } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { requestOf } from './inner-call.contract.ts';

const never = () => new AbortController().signal;

interface Place {
  readonly ground: Parameters<typeof openFamilies>[0];
  readonly mind: Parameters<typeof openFamilies>[1];
  readonly turns: TurnRequest[];
  readonly bin: string;
}

/** A PATH with these programs, each printing its arguments. */
function placeWith(t: TestContext, programs: readonly string[], config: unknown = {}, variables = {}): Place {
  const bin = join(createTempHome(t).path, 'bin');
  mkdirSync(bin);
  for (const name of programs) {
    writeFileSync(join(bin, name), `#!/bin/sh\nfor a in "$@"; do printf '[%s]' "$a"; done\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const turns: TurnRequest[] = [];
  async function* runTurn(request: TurnRequest): AsyncGenerator<TurnEvent> {
    turns.push(request);
    yield { type: 'text-delta', text: 'said' };
    const facts = { steps: 1, usage: NO_USAGE, cost: 0, model: 'm/n', tier: request.tier, ms: 1 } as const;
    yield { type: 'turn-end', outcome: 'done', text: 'said', ...facts };
  }
  const read = <T>(_: string, schema: z.ZodType<T>): T => schema.parse(config);
  return {
    bin,
    turns,
    ground: { clock: systemClock, variables: { PATH: `${bin}:/bin:/usr/bin`, HOME: '/nowhere', ...variables } },
    mind: { runTurn, config: read, redact: (text) => text },
  };
}

describe('rlm/call: families', () => {
  test('the turn by tier and reflex are always there', async (t) => {
    const { ground, mind, turns } = placeWith(t, []);
    const families = openFamilies(ground, mind);
    assert.deepEqual([...families.keys()], ['default', 'reflex']);
    const prompt = '{"schema_version":"rlm.hermes.input.v1","mode":"synthesize_parent"}';
    await families.get('default')?.call(requestOf({ prompt }), never());
    await families.get('default')?.call(requestOf(), never());
    await families.get('reflex')?.call(requestOf({ prompt }), never());
    assert.deepEqual(
      turns.map(({ tier, model, purpose, tools, maxSteps }) => ({ tier, model, purpose, tools, maxSteps })),
      ['T2', 'T1', 'T0'].map((tier) => ({ tier, model: undefined, purpose: 'recurse', tools: [], maxSteps: 1 })),
    );
  });

  test('config.yaml adds models and programs, and may stand in for the default', async (t) => {
    const config = {
      families: {
        default: { model: 'local/small' },
        echo: { command: ['printargs', '{prompt}'] },
        absent: { command: ['no-such-agent'] },
      },
    };
    const { ground, mind, turns } = placeWith(t, ['printargs'], config);
    const families = openFamilies(ground, mind);
    await families.get('default')?.call(requestOf(), never());
    assert.equal(turns[0]?.model, 'local/small');
    const echoed = await families.get('echo')?.call(requestOf({ system: '', prompt: 'a b' }), never());
    assert.ok(
      echoed?.ok && echoed.value.completion === '[a b]' && echoed.value.model === 'printargs',
      JSON.stringify(echoed),
    );
    const absent = await families.get('absent')?.call(requestOf(), never());
    assert.ok(absent && !absent.ok && absent.reason === 'no_model', JSON.stringify(absent));
  });

  test('the presets are offered where their program is, with the model that a variable names', async (t) => {
    const { ground, mind } = placeWith(t, ['hermes', 'codex'], {}, { RLM_FORGE_CODEX_MODEL: 'gpt-6' });
    const families = openFamilies(ground, mind);
    assert.deepEqual([...families.keys()], ['default', 'reflex', 'hermes_glm', 'codex_gpt55']);
    const hermes = await families.get('hermes_glm')?.call(requestOf({ system: 'S', prompt: 'P' }), never());
    assert.ok(hermes?.ok, JSON.stringify(hermes));
    assert.equal(hermes.value.completion, '[chat][-Q][--source][tool][--model][glm-4.7][-q][S\n\nP]');
    assert.equal(hermes.value.model, 'hermes/glm-4.7');
    const codex = await families.get('codex_gpt55')?.call(requestOf(), never());
    assert.ok(codex?.ok && codex.value.completion.includes('[gpt-6]') && codex.value.model === 'codex/gpt-6');
  });

  test('a name is checked before a run begins', (t) => {
    const { ground, mind } = placeWith(t, ['claude'], { families: { mine: { command: ['no-such-agent', '-p'] } } });
    const check = (...names: string[]) => checkFamilies(names, ground, mind);
    assert.deepEqual(check('reflex', 'claude_code_opus47', 'reflex'), {
      ok: true,
      value: ['reflex', 'claude_code_opus47'],
    });
    const unknown = check('gpt');
    assert.ok(!unknown.ok && unknown.reason === 'rlm-family-unknown');
    assert.match(unknown.detail, /no family "gpt"; families: default, reflex, claude_code_opus47, mine/);
    for (const [name, program] of [
      ['codex_gpt55', 'codex'],
      ['mine', 'no-such-agent'],
    ] as const) {
      const missing = check('default', name);
      assert.ok(!missing.ok && missing.reason === 'rlm-program-missing', name);
      assert.match(
        missing.detail,
        new RegExp(`the family ${name} needs the program ${program}, which is not on the PATH`),
      );
    }
    assert.ok(!check('constructor').ok && !check('__proto__').ok && !check('').ok);
  });

  test('a wrong section is refused, each fault by name', () => {
    const faults: readonly [unknown, RegExp][] = [
      [{ families: { a: {} } }, /either a model or a command/],
      [{ families: { a: { model: 'x/y', command: ['z'] } } }, /either a model or a command/],
      [{ families: { a: { model: 'nameless' } } }, /PROVIDER\/MODEL/],
      [{ families: { a: { command: [] } } }, /names a program/],
      [{ families: { a: { command: [' '] } } }, /name of a program/],
      [{ families: { a: { command: ['x'], env: ['A=B'] } } }, /name of a variable/],
      [{ families: { 'A b': { model: 'x/y' } } }, /small letters/],
      [{ families: { reflex: { model: 'x/y' } } }, /without a model/],
      [{ call_timeout_seconds: 0 }, /./],
    ];
    for (const [config, message] of faults) {
      const read = rlmSchema.safeParse(config);
      assert.ok(!read.success, JSON.stringify(config));
      assert.match(JSON.stringify(read.error.issues), message, JSON.stringify(config));
    }
    const { families, recursive_read } = rlmSchema.parse({});
    assert.deepEqual(families, {});
    assert.equal(recursive_read.enabled, true);
  });
});

describe('rlm/call: nesting', () => {
  test('levels outside and inside together are five at most; at five nothing begins', () => {
    for (const [told, depth] of [
      [undefined, 5],
      ['', 5],
      ['0', 5],
      ['1', 4],
      ['4', 1],
    ] as const) {
      const open = openNesting({ TALARIA_RLM_DEPTH: told });
      assert.ok(open.ok && open.value.depth === depth && open.value.outside + depth <= DEEPEST, `${told}`);
    }
    for (const told of ['5', '6', '999', 'many', '-1', '1.5', '1e9']) {
      const open = openNesting({ TALARIA_RLM_DEPTH: told });
      assert.ok(!open.ok && open.reason === 'rlm-nested-too-deep', told);
      assert.match(open.detail, new RegExp(`TALARIA_RLM_DEPTH is ${told}`));
      assert.ok(depthOutside({ TALARIA_RLM_DEPTH: told }) >= DEEPEST);
    }
    const wanted = openNesting({ TALARIA_RLM_DEPTH: '1' }, 2);
    assert.ok(wanted.ok && wanted.value.depth === 2);
  });
});

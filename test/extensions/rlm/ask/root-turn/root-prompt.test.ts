import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJson } from '#base/json.ts';
import { ROOT_RULES, SUB_RULES } from '#extensions/rlm/ask/ask.rules.ts';
import { LEAST_WINDOW, promptChars } from '#extensions/rlm/ask/ask-request.ts';
import { type RootPrompt, rootPrompt } from '#extensions/rlm/ask/root-prompt.ts';
import { pieceChars } from '#extensions/rlm/ask/sub-calls.ts';
import type { Handle } from '#extensions/rlm/outcome.ts';
import { textSource } from '#extensions/rlm/repl/file-bytes.ts';
import { REPL_API } from '#extensions/rlm/repl/repl-api.rules.ts';
import { textHash } from '#extensions/rlm/trace/run-record.ts';
import { computed, span } from '../handles.ts';

function promptOf(window: number, steps: number): { readonly text: string; readonly prompt: RootPrompt } {
  const handles: Handle[] = Array.from({ length: steps * 20 }, (_, at) =>
    at % 2 === 0 ? span(`h${at}`, 'quoted "words" '.repeat(200)) : computed(`h${at}`, 'x\n'.repeat(900)),
  );
  const history = Array.from({ length: steps }, (_, at) => ({
    step: at + 1,
    code: 'const value = context.search("x");\n'.repeat(300),
    output: '"quoted"\n'.repeat(800),
    cut: 7,
    failure: at % 3 === 0 ? 'threw: '.repeat(300) : null,
    handles: handles.map(({ id }) => id),
  }));
  const state = {
    task: 'next_step',
    note: 'n'.repeat(1_000),
    question: 'why "so"? '.repeat(100),
    step: steps + 1,
    steps: 99,
  } as const;
  const source = textSource('line "one"\n'.repeat(5_000), 'p'.repeat(3_000));
  const variables = Array.from({ length: 100 }, (_, at) => `name${at}`.repeat(40));
  const text = rootPrompt(
    { ...state, source, history, handles, variables, piece_chars: 1, models: [] },
    promptChars(window) - ROOT_RULES.length,
  );
  const read = parseJson(text);
  assert.ok(read.ok);
  return { text, prompt: read.value as unknown as RootPrompt };
}

describe('rlm/ask: the prompt of a root call', () => {
  test('fits every window, however much has happened; what is left out is counted', () => {
    for (const window of [LEAST_WINDOW, 8_192, 16_384, 32_768, 131_072])
      for (const steps of [0, 1, 12, 60]) {
        const { text, prompt } = promptOf(window, steps);
        assert.ok(text.length + ROOT_RULES.length <= promptChars(window), `${window} ${steps}: ${text.length}`);
        assert.equal(prompt.history.length + prompt.history_left_out, steps);
        assert.equal(prompt.handles.length + prompt.handles_left_out, steps * 20);
        const last = prompt.history.at(-1);
        assert.ok(last === undefined || (last.step === steps && last.output.length + last.cut >= 7_200));
      }
  });

  test('the schema is the first key, the question the last; equal state, equal bytes', () => {
    const { text } = promptOf(8_192, 5);
    assert.match(text, /^\{"schema_version":"talaria\.rlm\.repl\.v1","task":"next_step",/);
    assert.match(text, /"question":"why \\"so\\"\? [^{}]*"\}$/);
    assert.equal(promptOf(8_192, 5).text, text);
  });

  test('the rules are pinned: a changed word makes older runs no longer replayable', () => {
    assert.deepEqual(
      [textHash(ROOT_RULES.replace(REPL_API, '')), textHash(SUB_RULES)],
      [
        'sha256:3388fae6b5827dee800fa69c4ec48679d49daf6eb6bc69cb27578c4b04714340',
        'sha256:8bcea5a9d6699ca756ca1c33d90592291476ab2944755eccfad834aedff7536d',
      ],
    );
  });

  test('a sub-call of the smallest window still reads a piece', () => {
    assert.ok(pieceChars(LEAST_WINDOW) > 8_000);
  });
});

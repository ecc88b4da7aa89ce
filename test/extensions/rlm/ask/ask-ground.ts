// Owns a ground for tests of what a person types: a home, files, a model that answers by script through the turn. Knows no test.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { z } from 'zod';
import type { Ground, Mind, TurnRequest } from '#core/agent/room.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import { noJudge } from '#mind/evidence/judge.ts';
import type { TurnEvent } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { testGround, testMind } from '../../../ground.ts';

export interface AskGround {
  readonly ground: Ground;
  readonly mind: Mind;
  readonly cwd: string;
  readonly home: string;
  write(path: string, content: string | Uint8Array): string;
}

/** `answer` gets the prompt of a root call or a sub-call. */
export function askGround(
  t: TestContext,
  answer: (prompt: string) => string,
  variables: Readonly<Record<string, string>> = {},
): AskGround {
  const folder = createTempHome(t).path;
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
  for (const path of [home, cwd]) mkdirSync(path, { recursive: true });
  async function* runTurn(request: TurnRequest): AsyncGenerator<TurnEvent> {
    const text = answer(request.text);
    yield { type: 'text-delta', text };
    const facts = { steps: 1, usage: NO_USAGE, cost: 0, model: 'm/n', tier: request.tier, ms: 1 } as const;
    yield { type: 'turn-end', outcome: 'done', text, ...facts };
  }
  const config = <T>(_: string, schema: z.ZodType<T>): T => schema.parse({});
  const mind = testMind({
    runTurn,
    config,
    judge: noJudge,
    answering: () => 'T2',
    window: () => 8_192,
    redact: (text) => text,
  });
  const places = { home, userHome: folder };
  const ground = testGround({ places, variables, open: async () => mind });
  const write = (path: string, content: string | Uint8Array): string => {
    const file = join(cwd, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  return { ground, mind, cwd, home, write };
}

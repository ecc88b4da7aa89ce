/** The composed agent with the real small model and engine in its home, and what recursion sees of it. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Ground, Mind } from '#core/agent/room.ts';
import { openFamilies } from '#extensions/rlm/call/families.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { noJudge } from '#mind/evidence/judge.ts';
import { readConfigSection } from '#surfaces/app/home/config.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { engineFolder as placeOfEngine } from '#surfaces/app/models/find-providers.ts';
import { testGround, testMind } from '../../ground.ts';
import { createStage } from '../../surfaces/app/app-fixture.ts';
import type { SmolLm2 } from '../find-smollm2.ts';

export interface SmolScene {
  readonly ground: Ground;
  readonly mind: Mind;
  readonly families: ReadonlyMap<string, InnerCall>;
}

export async function smolScene(t: TestContext, { modelPath, engineFolder }: SmolLm2): Promise<SmolScene> {
  if (!modelPath || !engineFolder) throw new Error('there is no model to place');
  const stage = createStage(t);
  const home = homeAt(stage.root);
  for (const folder of [home.models, home.engines]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  symlinkSync(modelPath, join(home.models, basename(modelPath)));
  symlinkSync(engineFolder, placeOfEngine(home));
  writeFileSync(home.config, 'version: 1\nrlm:\n  call_timeout_seconds: 60\n', { mode: 0o600 });
  const app = await stage.open();
  const mind = testMind({
    runTurn: app.runExtensionTurn.bind(app),
    config: (section, schema) => readConfigSection(app.loaded, section, schema),
    judge: noJudge,
    answering: () => app.model().tier,
    window: app.windowOf,
    redact: app.redact,
  });
  const places = { home: stage.root, userHome: stage.temp.path };
  const { variables } = stage.environment;
  const ground = testGround({ places, variables, open: async () => mind });
  return { ground, mind, families: openFamilies(ground, mind) };
}

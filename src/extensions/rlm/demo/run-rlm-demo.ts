// Owns the story of `talaria rlm demo`: a real file through split, child calls, synthesis and gate; a claim put in and refused; a handle left
// out and repaired; replay, check, page. Knows no stage's work. Invariant: the first stage that fails ends it, by name, with exit 1.

import { errorCode, errorText } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import { failed } from '#core/agent/command-failure.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { callByRule } from '../reflex/reflex-tasks.ts';
import type { RlmGround } from '../rlm-ground.ts';
import { openTraceStore } from '../trace/open-trace-store.ts';
import { DEMO_FAILED } from './demo-failed.ts';
import type { DemoPlace } from './demo-place.ts';
import {
  type DemoGround,
  faultStage,
  gateStage,
  pageStage,
  repairStage,
  replayStage,
  runStage,
  type StageReport,
  splitStage,
  verifyStage,
} from './demo-stages.ts';

const NAME_WIDTH = 13;

/** Throws what is no failure of a stage. */
export async function* runRlmDemo(
  { clock }: RlmGround,
  place: DemoPlace,
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  const store = openTraceStore(place.home, { clock });
  const inner = callByRule(clock);
  const told: Record<string, JsonValue> = {};
  let number = 0;
  yield line('Talaria takes a file apart: no key, no language model (reflex/1, which is rules), nothing staged.');
  yield line(`home    ${place.home}`);
  yield line(`folder  ${place.folder}`);
  try {
    for await (const [name, { lines, data }] of story({ clock, store, place, inner }, signal)) {
      number += 1;
      told[name] = data;
      const [first = '', ...rest] = lines;
      yield line(`${`${number}. ${name}`.padEnd(NAME_WIDTH)}${first}`);
      for (const text of rest) yield line(`${' '.repeat(NAME_WIDTH)}${text}`);
    }
  } catch (error) {
    if (errorCode(error) !== DEMO_FAILED) throw error;
    yield failed(
      DEMO_FAILED,
      `the demo failed at its stage ${errorText(error)}`,
      `What there is of it is kept: ${place.root}`,
    );
    return;
  } finally {
    store.close();
  }
  yield line(`Look around: TALARIA_HOME=${place.home} talaria rlm runs`);
  yield { type: 'data', value: { home: place.home, folder: place.folder, stages: told } };
}

async function* story(ground: DemoGround, signal: AbortSignal): AsyncGenerator<readonly [name: string, StageReport]> {
  const split = await splitStage(ground, signal);
  yield ['split', split];
  const prepared = split.made;
  const accepted = await runStage(ground, prepared, signal);
  yield ['children', accepted];
  yield ['gate', gateStage(accepted.made)];
  const refused = await faultStage(ground, { prepared, sound: accepted.made.outcome }, signal);
  yield ['fault', refused];
  const repaired = await repairStage(ground, { prepared, sound: accepted.made }, signal);
  yield ['repair', repaired];
  yield ['replay', await replayStage(accepted.made, signal)];
  yield ['verify', verifyStage([accepted.made, refused.made, repaired.made])];
  yield ['page', pageStage(ground, { accepted: accepted.made, refused: refused.made, repaired: repaired.made })];
}

function line(text: string): CommandOutput {
  return { type: 'line', text };
}

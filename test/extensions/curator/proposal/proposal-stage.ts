/** A composed agent with evidence and a scripted model, and the curator's commands on it. */
import type { TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { curatorCommands } from '#extensions/curator/commands.ts';
import type { CuratorGround } from '#extensions/curator/curator-ground.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { extensionGround } from '#surfaces/app/host/lend-ground.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import type { Stage } from '../../../surfaces/app/app-fixture.ts';
import { stageWithEvidence } from '../commands/evidence-stage.ts';

export interface ProposalStage {
  readonly stage: Stage;
  readonly ground: CuratorGround;
  readonly client: ScriptedModel;
  run(name: string, input?: object, signal?: AbortSignal): Promise<Ran>;
}

export interface Ran {
  readonly text: string;
  readonly data: JsonObject;
  readonly failure: Extract<CommandOutput, { type: 'failure' }> | undefined;
}

export async function proposalStage(t: TestContext, steps: readonly ScriptedStep[]): Promise<ProposalStage> {
  const stage = stageWithEvidence(t);
  const client = createScriptedModel(steps, { context: t });
  const app = await stage.open({ extra: { client } });
  const { environment } = stage;
  const ground = extensionGround({
    environment,
    home: findHome(environment),
    clock: systemClock,
    app: async () => app,
  });
  const run = (name: string, input: object = {}, signal?: AbortSignal) =>
    runCommand(ground, { name, input, cwd: stage.cwd, ...(signal ? { signal } : {}) });
  return { stage, ground, client, run };
}

export async function runCommand(
  ground: CuratorGround,
  asked: { readonly name: string; readonly input: object; readonly cwd: string; readonly signal?: AbortSignal },
): Promise<Ran> {
  const { name, input, cwd, signal = new AbortController().signal } = asked;
  const command = curatorCommands(ground).find((one) => one.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  const outputs: CommandOutput[] = [];
  for await (const output of command.run(command.input.parse(input), { cwd, signal })) outputs.push(output);
  const data = outputs.find((output) => output.type === 'data')?.value;
  return {
    text: outputs.flatMap((output) => (output.type === 'line' ? [output.text] : [])).join('\n'),
    data: isJsonObject(data) ? data : {},
    failure: outputs.find((output) => output.type === 'failure'),
  };
}

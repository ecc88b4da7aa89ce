/** A home with some evidence: two skills, ten days of it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { curatorCommands } from '#extensions/curator/commands.ts';
import { insertToolEvent, insertTurnEvent } from '#mind/evidence/ledger/event-rows.ts';
import { ledgerSchema } from '#mind/evidence/ledger/evidence-ledger.ts';
import type { CommandOutput, Ground } from '#public/talaria.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createStage, groundOf, type Stage } from '../../surfaces/app/app-fixture.ts';

const DAY = 86_400_000;

export function stageWithEvidence(t: TestContext): Stage {
  const stage = createStage(t);
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  const { database } = openDatabase(join(stage.root, 'evidence.sqlite'), { rooms: [ledgerSchema] });
  for (let day = 0; day < 10; day += 1) {
    const at = systemClock.now() - day * DAY - 1000;
    insertToolEvent(database, {
      ...{
        key: `k${day}`,
        at,
        sessionId: 's',
        taskId: `t${day}`,
        tool: day % 2 === 0 ? 'terminal' : 'skill_view',
        ms: 5,
      },
      ...{ isError: day % 4 === 0, isErrorUpstream: true, skill: day % 2 === 0 ? null : 'release', activeSkill: null },
      ...{ argsJson: '{}', resultPreview: `day ${day}` },
      ...(day === 2 ? { activeSkill: 'deploy\u0007' } : {}),
    });
  }
  insertTurnEvent(database, {
    ...{ key: 'turn', at: systemClock.now(), sessionId: 's', model: 'm', platform: 'cli' },
    ...{ userPreview: 'do', assistantPreview: 'done' },
  });
  database.close();
  return stage;
}

// A composed agent with evidence and a scripted model, and the curator's commands on it.

export interface ProposalStage {
  readonly stage: Stage;
  readonly ground: Ground;
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
  const ground = groundOf(t, { environment, app: async () => app });
  const run = (name: string, input: object = {}, signal?: AbortSignal) =>
    runCommand(ground, { name, input, cwd: stage.cwd, ...(signal ? { signal } : {}) });
  return { stage, ground, client, run };
}

export async function runCommand(
  ground: Ground,
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

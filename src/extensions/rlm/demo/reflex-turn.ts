// Owns a turn of `reflex/1` alone: the one turn function over the client that needs no model, with nothing to remember and nothing to run.
// Invariant: whatever keys the person has, no other model is asked; nothing is kept but what the caller keeps of the reply.
import type { Clock } from '#base/clock.ts';
import { newId } from '#base/ids.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { ExtensionHost } from '#core/agent/extension-host.ts';
import { runTurn, type TurnLinks, type TurnMachine, type TurnMaterial } from '#core/agent/turn/run-turn.ts';
import { defaultStopConditions } from '#core/agent/turn/stop-conditions.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { reflexTasks } from '../reflex/reflex-tasks.ts';

/** `folder`: where a turn would act if it could. */
export function reflexTurn(clock: Clock, folder: string): ExtensionHost['runTurn'] {
  const model = createReflexClient([], { clock, tasks: reflexTasks() });
  const place = { cwd: folder, clock, asker: absentAsker, spillFolder: folder, redact: (text: string) => text };
  const access = {
    tools: new Map(),
    shown: new Set<string>(),
    runnable: new Set<string>(),
    approver: denyingApprover,
    allowList: { has: () => false, add: () => undefined },
  };
  return ({ text, system = '', purpose, maxSteps }, signal) => {
    const machine: TurnMachine = {
      clock,
      model: () => model,
      access,
      place,
      hooks: [],
      stop: defaultStopConditions(maxSteps),
    };
    const material: TurnMaterial = {
      info: { sessionId: newId('demo'), source: 'extension', cwd: folder, turn: 1 },
      purpose,
      prompt: { system, tools: [] },
      history: [],
      input: { text, origin: 'model' },
    };
    return runTurn(material, { ...machine, ...forgetting(clock) }, signal);
  };
}

function forgetting(clock: Clock): TurnLinks {
  let last = 0;
  return {
    journal: async (message) => {
      last -= 1;
      return { id: last, sessionId: 'demo', at: clock.now(), message };
    },
    recordSpans: async () => undefined,
    takeSteers: () => [],
  };
}

/** The mind in this process, the one in a process of its own, and the fake that stands for both: one contract. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { withLife } from '#fleet/golem/life.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { createGolemStage, quiet, taught } from '../fleet/golem/stage.ts';
import { realClock } from '../ground.ts';
import { MAIN } from '../scenario/cli-process.ts';
import { golemHooksContract, type Hooks, KNOWN, type OpenHooks } from './golem-hooks.contract.ts';

const real =
  (sidecar: boolean): OpenHooks =>
  async (t, work) => {
    const stage = createGolemStage(t, { clock: realClock });
    await stage.create('ada');
    const record = { confidence: 0.8, useCount: 3 };
    await stage.teach('ada', [taught(KNOWN.name, KNOWN.when, ['drain', 'rotate'], record)]);
    const ground = { ...stage.ground, program: [process.execPath, MAIN] };
    const done = await withLife(ground, 'ada', { models: false, sidecar, domain: quiet() }, ({ hooks }) => work(hooks));
    if (!done.ok) throw new Error(done.detail);
  };

/** As little as keeps the contract. */
function fakeHooks(folder: string): Hooks {
  const { name, when } = KNOWN;
  let stage: 'new' | 'awake' | 'dead' = 'new';
  let tail: Promise<unknown> = Promise.resolve();
  const hook =
    <Asked, Given>(answer: (asked: Asked) => Given, allowed: readonly (typeof stage)[] = ['awake']) =>
    (asked: Asked): Promise<Given> => {
      const run = () => {
        if (allowed.includes(stage)) return answer(asked);
        throw new TalariaError('not now', { code: stage === 'dead' ? 'dead-golem' : 'not-initialised' });
      };
      const done = tail.then(run, run);
      tail = done.catch(() => undefined);
      return done;
    };
  const say = <Value, Event>(value: Value, ...events: readonly Event[]) => ({
    ...{ value, events, cost: { usd: 0, tokens: 0 } },
  });
  const file = (kind: string) => join(folder, kind);
  for (const kind of ['bundle', 'testament']) writeFileSync(file(kind), '');
  const parts = { standing: 1, attribution: 1, bloodstain: 1, boost: 1 };
  const known = {
    name,
    parts,
    steps: [],
    text: '',
    isUsable: true,
    version: 1,
    weight: 1,
    relevance: 1,
    confidence: 0.8,
  };
  const nothing = {
    created: [],
    improved: [],
    flagged: [],
    promoted: [],
    patterns: 0,
    counterfactuals: 0,
    heuristics: 0,
  };
  return {
    session: hook(() => {
      stage = 'awake';
      return say({ count: 1 }, { type: 'SkillsLoaded', count: 1 } as const);
    }, ['new', 'awake']),
    context: hook(({ tick, observation: { text: query } }) =>
      query === when
        ? say({ query, procedures: [known] }, { type: 'SkillsActivated', tick, skills: [name] } as const)
        : say({ query, procedures: [] }),
    ),
    toolResult: hook(({ feedback }) => say({ queued: feedback.skill !== undefined })),
    afterTurn: hook(({ record: { tick, outcome, actions } }) =>
      outcome?.success === true && actions.length > 2
        ? say({ drafted: true }, { type: 'SkillDrafted', tick, trigger: '' } as const)
        : say({ drafted: false }),
    ),
    end: hook(() => say({ bundle: file('bundle'), skills: 1 })),
    dreamOnset: hook(() => say({ ...nothing, refused: 'it never does' })),
    death: hook(() => {
      const events = stage === 'dead' ? [] : [{ type: 'DeathSkillExport', skills_exported: 1 } as const];
      stage = 'dead';
      return say({ path: file('testament'), skills: 1 }, ...events);
    }, ['new', 'awake', 'dead']),
  };
}

golemHooksContract('in process', real(false));
golemHooksContract('in a process of its own', real(true));
golemHooksContract('fake', (t, work) => work(fakeHooks(createTempHome(t).path)));

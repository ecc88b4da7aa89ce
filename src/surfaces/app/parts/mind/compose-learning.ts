// Owns composing the learning loop for one app: its doors, its settings, the turns it forks. Knows no surface.
// Invariant: reviews run on the prompt and the shown tools of the session they review, and with nothing runnable but what proposes.
import { redactSecrets } from '#base/secrets.ts';
import { absentAsker } from '#core/agent/approver.ts';
import { createForkTurn } from '#core/agent/fork-turn.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import { createLearning } from '#mind/learning/create-learning.ts';
import type { Learning } from '#mind/learning/learning.ts';
import type { AppParts } from '../app-parts.ts';

export type LearningGround = Pick<
  AppParts,
  'home' | 'clock' | 'loaded' | 'mind' | 'tools' | 'background' | 'redact' | 'log' | 'providers' | 'attended'
> & {
  readonly notice: (text: string) => void;
  readonly judge: Judge;
  /** What answers now. */
  readonly model: () => ModelClient;
};

/** Loaded by lazy-learning.ts, when something of it is needed. */
export function composeLearning(ground: LearningGround): Learning {
  const { home, clock, loaded, mind, tools, background, log, notice, model } = ground;
  const { config } = loaded;
  return createLearning({
    stores: { sessions: mind.store, database: mind.store.database, ledger: mind.ledger },
    memory: { files: mind.memory, ...(ground.providers ? { providers: ground.providers } : {}) },
    skills: {
      reader: mind.skills.library,
      door: mind.skills.door,
      readingTools: ['skills_list', 'skill_view'].flatMap((name): readonly AnyTool[] => {
        const tool = tools.byName.get(name);
        return tool ? [tool] : [];
      }),
      ready: () => mind.skills.library.ready(),
      written: async () => void (await mind.skills.library.refresh()),
    },
    turn: { forkTurn: forkOf(ground), model, judge: ground.judge },
    places: { pending: home.pending, lease: home.unattendedLease },
    settings: {
      enabled: config.learning.enabled,
      intervals: { memory: config.memory.nudge_interval, skills: config.skills.creation_nudge_interval },
      budget: {
        ...config.learning.budget,
        ...{ share: config.learning.budget_share, floorPerDay: config.learning.budget_floor },
      },
      writeApproval: config.skills.write_approval,
      keeps: { memory: config.memory.enabled, skills: config.skills.enabled },
      isAttended: ({ id }) => ground.attended.has(id),
    },
    ground: { clock, background, notice, log, redact: (text) => redactSecrets(ground.redact(text)) },
  });
}

function forkOf({ clock, mind, tools, home, redact, model }: LearningGround) {
  const place = { cwd: home.root, clock, asker: absentAsker, spillFolder: home.spill, redact };
  return createForkTurn({ store: mind.store, model, machine: { clock, place, access: { tools: tools.byName } } });
}

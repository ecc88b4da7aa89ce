// Owns the simulated domain of the trial (hierarchy notes F, G): one incident of a seeded world at each heartbeat, eight actions, the world's own truth.
// Knows no golem. Invariant: what is simulated is only what is over: an incident that runs is never looked up.
import { ARCHETYPES, type DomainPlugin } from './domain.ts';
import { SIM_ACTIONS, type SimIncident, type SimKind, type SimWorld } from './sim-world.ts';

const TAG = 'incident';
const KEPT = 1_000;

export interface SimDomain extends DomainPlugin {
  /** For the statistics of a trial, not for a golem. */
  readonly last: () => SimIncident | undefined;
}

/** `from`: incidents that were lived before. */
export function createSimDomain(world: SimWorld, stream: number, from = 0): SimDomain {
  const incidents = world.incidents(stream);
  for (let skipped = 0; skipped < from; skipped += 1) incidents.next();
  const over = new Map<string, SimKind>();
  let current: SimIncident | undefined;
  const close = () => {
    if (current) over.set(current.text, current.kind);
    const [oldest] = over.keys();
    if (over.size > KEPT && oldest !== undefined) over.delete(oldest);
  };
  return {
    id: 'sim',
    archetypes: ARCHETYPES.sim,
    categories: [TAG],
    tools: [],
    observe: async (signal) => {
      signal.throwIfAborted();
      close();
      current = incidents.next().value;
      return { text: current.text, tag: TAG, signals: [{ name: TAG, value: 1 }] };
    },
    candidates: () => SIM_ACTIONS.map((label) => ({ tool: 'sim', label })),
    act: async ({ label }, signal) => {
      signal.throwIfAborted();
      if (!isAction(label))
        return { status: 'blocked', blockReason: 'unknown-action', text: '', hasChanged: false, isOver: false, ms: 0 };
      const isRight = current?.act(label) ?? false;
      const isOver = current?.isOver ?? true;
      return { status: 'ok', text: isRight ? 'it helped' : 'no effect', hasChanged: isRight, isOver, ms: 0 };
    },
    verify: async () => {
      const success = current?.isCured ?? false;
      const summary = success ? 'cured' : 'not cured';
      return { verified: true, success, value: current?.actions ?? 0, unit: 'actions', summary, source: 'world' };
    },
    guard: ({ label }) => (isAction(label) ? 'allow' : 'deny'),
    changed: () => 0,
    simulate: ({ text }, steps) => {
      const kind = over.get(text);
      if (kind === undefined) return undefined;
      const success = kind.cure.every((action, at) => steps[at] === action);
      const summary = success ? 'would have cured it' : 'would not have cured it';
      return { verified: true, success, summary, source: 'world' };
    },
    close: async () => close(),
    last: () => current,
  };
}

function isAction(label: string): boolean {
  return (SIM_ACTIONS as readonly string[]).includes(label);
}

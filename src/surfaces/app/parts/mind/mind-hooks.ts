// Owns what hangs on every conversation of the app: offers of skills, their use, the event ledger. Knows no surface.
// Invariant: the prefix never changes: what fits a request goes into its user message.
import type { Clock } from '#base/clock.ts';
import type { EventSink } from '#base/fabric.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { createEvidenceLedger, type EvidenceLedger } from '#mind/evidence/ledger/evidence-ledger.ts';
import { offerSkills } from '#mind/skills/offer/skill-offer.ts';
import { createUseTracker, type UseTracker } from '#mind/skills/use/use-tracker.ts';
import type { LoadedConfig } from '../../home/config.ts';
import type { Home } from '../../home/home.ts';
import type { Background } from '../background.ts';
import type { ComposedTools } from '../compose-tools.ts';
import type { ComposedMind } from './compose-mind.ts';

export interface MindHooks {
  readonly hooks: readonly Hooks[];
  readonly uses: UseTracker;
  readonly evidence: EvidenceLedger;
}

export interface HookGround {
  readonly home: Home;
  readonly clock: Clock;
  readonly loaded: LoadedConfig;
  readonly mind: ComposedMind;
  readonly tools: Pick<ComposedTools, 'conditions'>;
  readonly redact: (text: string) => string;
  readonly background: Background;
  readonly events: EventSink<TurnEvent>;
  readonly notice: (text: string) => void;
}

export function composeMindHooks(ground: HookGround): MindHooks {
  const { home, clock, loaded, mind, events, notice, redact } = ground;
  const { skills, store } = mind;
  const hide = (text: string) => redactSecrets(redact(text));
  const told = ({ message }: { readonly message: string }) => notice(message);
  const evidence = createEvidenceLedger({ path: home.evidenceDatabase, clock, redact: hide, notice: told });
  const uses = createUseTracker({
    database: store.database,
    records: skills.records,
    door: skills.door,
    textOf: (name) => skills.library.get(name)?.text,
    clock,
    tell: ({ text }) => {
      events.emit({ type: 'notice', text });
      ground.background.hold('look at skills again', skills.library.refresh());
    },
  });
  const own = loaded.config.skills.enabled ? [skillOffers(ground), uses.hooks] : [];
  return { hooks: [...own, evidence.hooks, mind.files.hooks], uses, evidence };
}

/** What the session's frozen index has no room for, or did not know. */
function skillOffers({ mind, tools }: HookGround): Hooks {
  const { library } = mind.skills;
  return {
    name: 'skill-offers',
    beforeTurn: async ({ sessionId, text }, signal) => {
      const conditions = tools.conditions();
      const offered = library.offered(conditions);
      const ranker = mind.skills.ranker();
      if (offered.length === 0 || ranker === undefined) return [];
      const { system = '' } = (await mind.store.loadPrompt(sessionId)) ?? {};
      const shown = new Set(offered.map(({ name }) => name).filter((name) => system.includes(`\n- ${name}: `)));
      const part = await offerSkills(text, { ranker, conditions, shown, total: offered.length }, signal);
      return part ? [part] : [];
    },
  };
}

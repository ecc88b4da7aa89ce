// Owns which controller does which kind of run. Data only.
import { vanillaEngine } from '../../bench/modes/vanilla-engine.ts';
import type { RunEngines } from '../replay/replay-run.ts';
import { askEngine } from './ask-engine.ts';
import { runEngine } from './run-engine.ts';

export const RUN_ENGINES: RunEngines = { run: runEngine, ask: askEngine, vanilla: vanillaEngine };

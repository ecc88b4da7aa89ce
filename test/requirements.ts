/**
 * The list of everything the seeds ask for, one behavioural sentence a row. Tests cite rows by id
 * (`verifies`), `scripts/requirements.ts` holds both directions. Rows of later milestones are deferred.
 */
import { coreCompressionRows } from './requirements/core-compression.ts';
import { coreLaterRows } from './requirements/core-later.ts';
import { coreMindRows } from './requirements/core-mind.ts';
import { coreSurfacesRows } from './requirements/core-surfaces.ts';
import { coreToolsRows } from './requirements/core-tools.ts';
import { coreTurnRows } from './requirements/core-turn.ts';
import { curatorRows } from './requirements/curator.ts';
import { golemAwakeRows } from './requirements/golem-awake.ts';
import { golemDreamAndDeathRows } from './requirements/golem-dream-and-death.ts';
import { hivemindRows } from './requirements/hivemind.ts';
import { marketRows } from './requirements/market.ts';
import { metaRows } from './requirements/meta.ts';
import { reachRows } from './requirements/reach.ts';
import type { Requirement } from './requirements/requirement.ts';
import { rlmRows } from './requirements/rlm.ts';

export const requirements: readonly Requirement[] = [
  ...coreTurnRows,
  ...coreToolsRows,
  ...coreMindRows,
  ...coreSurfacesRows,
  ...coreCompressionRows,
  ...coreLaterRows,
  ...curatorRows,
  ...rlmRows,
  ...golemAwakeRows,
  ...golemDreamAndDeathRows,
  ...metaRows,
  ...marketRows,
  ...hivemindRows,
  ...reachRows,
];

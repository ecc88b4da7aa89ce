// Owns the layered ablation (notes 11): the memory of the inner runtime and that of recursion, on and off, over four providers.
// Assumed: the one rules out citing chunks only, the other leaving handles out. Guard and repair are real.
import type { GuardMode } from '../../guard/parent-claim.ts';
import { contaminationFixtures } from './contamination.ts';
import { type JudgedParent, judgeParent } from './judge-parent.ts';
import type { ParentShape } from './memory-fixture.ts';
import { memoryRates } from './memory-rates.ts';

const PROFILES = ['stable', 'missing_handle_prone', 'chunk_only_prone', 'both'] as const;
const LAYERS = [
  { hermes: false, rlm: false },
  { hermes: true, rlm: false },
  { hermes: false, rlm: true },
  { hermes: true, rlm: true },
] as const;
type Layers = (typeof LAYERS)[number];

export interface LayeredRow extends JudgedParent {
  readonly fixture_id: string;
  readonly profile: (typeof PROFILES)[number];
  readonly hermes_memory: boolean;
  readonly rlm_memory: boolean;
}

export function layeredAblation(mode: GuardMode) {
  const fixtures = contaminationFixtures();
  const rows = fixtures.flatMap((fixture) =>
    PROFILES.flatMap((profile) =>
      LAYERS.map((layers): LayeredRow => {
        const judged = judgeParent(fixture, shapeOf(profile, layers), mode);
        const { fixture_id } = fixture;
        return { fixture_id, profile, hermes_memory: layers.hermes, rlm_memory: layers.rlm, ...judged };
      }),
    ),
  );
  return {
    schema_version: 'talaria.rlm.memory_layered_ablation.v1',
    fixture_count: fixtures.length,
    evaluation_count: rows.length,
    layer_summary: LAYERS.map(({ hermes, rlm }) => ({
      hermes_memory: hermes,
      rlm_memory: rlm,
      ...memoryRates(rows.filter((row) => row.hermes_memory === hermes && row.rlm_memory === rlm)),
    })),
    evaluations: rows,
  };
}

function shapeOf(profile: LayeredRow['profile'], { hermes, rlm }: Layers): ParentShape {
  const citesChunks = (profile === 'chunk_only_prone' || profile === 'both') && !hermes;
  if (citesChunks) return 'chunk_only';
  const dropsHandle = (profile === 'missing_handle_prone' || profile === 'both') && !rlm;
  return dropsHandle ? 'missing_handle' : 'safe';
}

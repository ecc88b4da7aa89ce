// Owns making a Rank from the home: the configured models, opened when asked and closed after. Knows the house by CuratorGround alone.
// Invariant: making it loads and opens nothing.
import type { CuratorGround, CuratorMind } from '../curator-ground.ts';
import type { Rank } from './rank-skills.ts';

/** Reads the `curator.semantic` section when first called; a broken one is thrown as `config-invalid`. */
export function createRank(ground: CuratorGround, mind: Pick<CuratorMind, 'config'>): Rank {
  return async (request, signal) => {
    const [{ rankSkills }, { onnxRankParts }, { readSemanticConfig }] = await Promise.all([
      import('./rank-skills.ts'),
      import('./onnx-rank-parts.ts'),
      import('./semantic-config.ts'),
    ]);
    return rankSkills(request, onnxRankParts(ground, readSemanticConfig(mind)), signal);
  };
}

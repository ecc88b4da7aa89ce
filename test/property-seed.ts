/** Every property test of a run draws from one seed, so that a run repeats: `TALARIA_SEED=n npm test` tries another. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.TALARIA_SEED ?? 20_251) });

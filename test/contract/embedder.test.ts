import { createHashEmbedder } from '../doubles/hash-embedder.ts';
import { embedderContract } from './embedder.contract.ts';

embedderContract('hash', () => ({
  embedder: createHashEmbedder({ same: [['car', 'automobile']] }),
  near: ['A red car', 'A red automobile'],
  far: 'Bake the bread',
}));

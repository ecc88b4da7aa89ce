import { createWordReranker } from '../doubles/word-reranker.ts';
import { rerankerContract } from './reranker.contract.ts';

rerankerContract('words', () => ({
  reranker: createWordReranker(),
  query: 'restart the gateway',
  good: 'How to restart a gateway',
  bad: 'Bake the bread',
}));

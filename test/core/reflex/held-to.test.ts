import { heldTo } from './held-to.contract.ts';

heldTo('the first three batches', [1, 2, 3]);

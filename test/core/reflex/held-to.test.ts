import { heldTo } from './held-to.ts';

heldTo('the first three batches', [1, 2, 3]);

import { allBatches, heldTo } from '../core/reflex/held-to.ts';

heldTo('all batches', allBatches());

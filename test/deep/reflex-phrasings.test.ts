import { allBatches, heldTo } from '../core/reflex/held-to.contract.ts';

heldTo('all batches', allBatches());

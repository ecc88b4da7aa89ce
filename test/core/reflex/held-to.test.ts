import { heldTo } from './held-to.contract.ts';

heldTo('the first batch', [1]);

import { doorFaults } from './door-faults.contract.ts';

doorFaults(29);

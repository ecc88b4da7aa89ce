import { doorFaults } from '../../fault/skills/door-faults.contract.ts';

doorFaults(1);

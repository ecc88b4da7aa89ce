import { createMemorySessionStore } from '#testing/memory-session-store.ts';
import { sessionStoreContract } from '../contract/session-store.contract.ts';

sessionStoreContract('in memory', (clock) => createMemorySessionStore(clock));

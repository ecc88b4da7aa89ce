/** A full disk at each file operation of a golem's birth, ticks and end, and at many of a dream. */
import { tryAll } from '../property-runs.ts';

tryAll();
await import('../fault/golem-disk.test.ts');

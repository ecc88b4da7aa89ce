// Owns what the commands over stored runs are given: their flags, as shapes and as types.
import { z } from 'zod';

const text = z.string().min(1);
const flag = z.boolean().default(false);
const kind = z.enum(['run', 'ask', 'vanilla']).optional().describe('Only runs of this kind');
export const replayed = z.object({ run: text.describe('Id of a run or its beginning, or an exported run') });

export const listed = z.object({ limit: z.int().min(1).default(20).describe('So many at most; 20'), kind });
export const pruned = z.object({
  olderThan: z.number('type the days: --older-than DAYS').min(0).describe('Days since the run began'),
  keep: z.int().min(0).default(0).describe('The newest so many stay whatever their age'),
  killed: flag.describe('Also runs that were killed and not gone on with'),
  dryRun: flag.describe('Only say which'),
});
export const shown = z.object({
  run: text.describe('Id of a run, or its beginning'),
  events: flag.describe('Also the events, in order'),
  calls: flag.describe('Also the calls, one a line'),
  call: text.optional().describe('Only this call, with its prompt and reply whole'),
  html: text.optional().describe('Write a page that needs nothing else to this file'),
  export: text.optional().describe('Write the whole run as JSON to this file: `rlm replay` and `rlm verify` read it'),
  force: flag.describe('Replace files that are there'),
});
export const resumed = z.object({
  run: text.describe('Id of a run that has not ended, or its beginning'),
  takeOver: flag.describe('Its process is gone although it seems to live (another machine)'),
});

export type Pruned = z.infer<typeof pruned>;
export type Shown = z.infer<typeof shown>;
export type Resumed = z.infer<typeof resumed>;

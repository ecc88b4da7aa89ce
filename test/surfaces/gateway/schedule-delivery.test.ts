import assert from 'node:assert/strict';
import { createManualClock } from '#testing/manual-clock.ts';
import { MemoryChannel } from '#testing/memory-channel.ts';
import { verifies } from '../../verifies.ts';
import { startGateway } from './gateway-stage.ts';

verifies(
  ['R5.119', 'core:schedule:timed-tasks'],
  'what a job brings goes to its chat through the outbox, once',
  async (t) => {
    const clock = createManualClock();
    const gate = await startGateway(t, ['two mails'], { channel: new MemoryChannel('telegram'), app: { clock } });
    const { jobs } = await gate.app.doors.schedule();
    const wish = {
      name: 'mail',
      prompt: 'read it',
      deliver: 'telegram:1',
      workdir: gate.stage.cwd,
      skills: [],
      toolsets: null,
    };
    const schedule = { kind: 'interval', minutes: 60, zone: 'UTC', display: 'every 1h' } as const;
    const all = { ...wish, schedule, model: null, repeat: null, created_by: 'owner' } as const;
    const job = await jobs.create(all, 'active', clock.now());
    const run = await jobs.start(job, clock.now());
    await jobs.finish(
      run.ok ? run.value : 0,
      { outcome: 'done', result: 'two mails', delivery: 'queued' },
      clock.now(),
    );
    await gate.until(async () => {
      await clock.advance(1_000);
      return gate.texts().length === 1;
    });
    assert.deepEqual([gate.texts(), jobs.runs()[0]?.delivery], [['two mails'], 'sent']);
  },
);

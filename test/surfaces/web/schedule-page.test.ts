import assert from 'node:assert/strict';
import { verifies } from '../../verifies.ts';
import { startSite, until } from './web-stage.ts';

verifies(['R5.142'], 'the schedule is paused and run, and a forgotten page says so', async (t) => {
  const site = await startSite(t, [{ reply: 'Done it.' }]);
  const { ground: _, ...desk } = await await site.app.doors.schedule();
  assert.ok(desk.jobs);
  for (const command of await site.app.commands())
    if (command.name === 'cron create') {
      const input = command.input.parse({ schedule: 'every 2h', prompt: 'look' });
      await Array.fromAsync(command.run(input, { cwd: site.stage.cwd, signal: new AbortController().signal }));
    }
  const [job] = desk.jobs.list();
  assert.ok(job);
  await site.post('/schedule', { act: 'cron pause', job: job.id });
  assert.match(await site.text('/schedule'), />paused</);
  await site.post('/schedule', { act: 'cron run', job: job.id });
  await until(async () => (await site.text('/schedule')).includes('Done it.'));
});

// Owns the curator as an extension of the app (seed 002): its tool and its schedule. Its commands are in commands.ts, loaded when typed.
// Knows the house by CuratorGround and ExtensionHost alone. Invariant: activating opens nothing and writes nothing.
import type { Extension } from '#core/agent/extension-host.ts';
import type { CuratorGround } from './curator-ground.ts';
import { scheduleSchema } from './schedule/schedule-config.ts';
import { scheduleJob } from './schedule/schedule-job.ts';
import { evidenceReportTool } from './tool/evidence-report-tool.ts';

export function curatorExtension(ground: CuratorGround): Extension {
  return {
    name: 'curator',
    activate: (host) => {
      host.addTool(evidenceReportTool(ground));
      const config = host.config('curator', scheduleSchema);
      const job = scheduleJob(ground, config, async (mind, signal) => {
        const { scheduledRun } = await import('./schedule/scheduled-run.ts');
        return scheduledRun(ground, config)(mind, signal);
      });
      if (job) host.addJob(job);
    },
  };
}

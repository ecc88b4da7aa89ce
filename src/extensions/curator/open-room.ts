// Owns what the curator adds to an agent: its tool and its schedule. Invariant: no file is opened and nothing written.
import { z } from 'zod';
import type { Ground, OpenRoom, RoomGround } from '#core/agent/room.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { scheduleJob, scheduleSchema } from './schedule-job.ts';

export async function openRoom(ground: RoomGround): Promise<OpenRoom> {
  const config = (await ground.settings()).section('curator', scheduleSchema);
  const job = config.schedule === 'off' ? undefined : scheduleJob(ground, config);
  return { tools: [evidenceReportTool(ground)], jobs: job ? [job] : [] };
}

const input = z.object({
  days: z.number().optional(),
  skill: z.string().optional(),
  format: z.enum(['json', 'markdown']).optional(),
});

const DEFAULT_DAYS = 7;
const LONGEST_DAYS = 365;

/** The evidence report (curator notes 17). What it gives is what tools and files said: its origin is foreign. Shown where its toolset is named. */
function evidenceReportTool(ground: Ground): AnyTool {
  return defineTool<z.infer<typeof input>>({
    name: 'curator_evidence_report',
    description: 'Recorded tool calls and failures by skill.',
    input,
    toolset: 'curator',
    effect: 'read',
    defer: 'rare',
    summary: ({ skill }) => `curator_evidence_report ${skill ?? 'all skills'}`,
    run: async ({ days = DEFAULT_DAYS, skill = '', format = 'json' }, _context, signal) => {
      const [{ openEvidence }, { reportMarkdown, reportOf }] = await Promise.all([
        import('./backfill/ensure-evidence.ts'),
        import('./report.ts'),
      ]);
      const { mind } = await openEvidence(ground, signal);
      const asked = { days, longest: LONGEST_DAYS, skill: skill.trim() === '' ? null : skill.trim() };
      const report = reportOf(ground, mind, asked);
      const shown = format === 'json' ? report : reportMarkdown(report);
      return { text: JSON.stringify({ success: true, format, report: shown }), origin: 'foreign' };
    },
  });
}

// Owns the agent's tool `curator_evidence_report` (seed 002, plugin; curator notes 17): the evidence report, read only. What it gives is
// what tools and files said, so its origin is foreign. Its toolset, `curator`, is shown where it is named; days are clamped to 1..365.
import { z } from 'zod';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import type { CuratorGround } from '../curator-ground.ts';

const input = z.object({
  days: z.number().optional(),
  skill: z.string().optional(),
  format: z.enum(['json', 'markdown']).optional(),
});

const DEFAULT_DAYS = 7;
const LONGEST_DAYS = 365;

export function evidenceReportTool(ground: CuratorGround): AnyTool {
  return defineTool<z.infer<typeof input>>({
    name: 'curator_evidence_report',
    description: 'Recorded tool calls and failures by skill.',
    input,
    toolset: 'curator',
    effect: 'read',
    summary: ({ skill }) => `curator_evidence_report ${skill ?? 'all skills'}`,
    run: async ({ days = DEFAULT_DAYS, skill = '', format = 'json' }, _context, signal) => {
      const [{ openEvidence }, { buildReport }, { ledgerReader }, { reportMarkdown }] = await Promise.all([
        import('../backfill/open-evidence.ts'),
        import('../report/build-report.ts'),
        import('../report/ledger-reader.ts'),
        import('../report/report-markdown.ts'),
      ]);
      const { mind } = await openEvidence(ground, signal);
      const asked = skill.trim() === '' ? null : skill.trim();
      const question = {
        dbPath: ground.places.evidenceDatabase,
        days,
        longest: LONGEST_DAYS,
        skill: asked,
        now: ground.clock.now(),
      };
      const report = buildReport(ledgerReader(mind.evidence()), question);
      const shown = format === 'json' ? report : reportMarkdown(report);
      return { text: JSON.stringify({ success: true, format, report: shown }), origin: 'foreign' };
    },
  });
}

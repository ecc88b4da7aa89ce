/** Pages that people and models read: what the evidence says begins nothing in them, whatever it says. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { candidatesMarkdown, classifyCandidate } from '#extensions/curator/mine.ts';
import { buildProposal, proposalMarkdown } from '#extensions/curator/proposal.ts';
import { buildReport, type EvidenceRow, reportMarkdown } from '#extensions/curator/report.ts';
import { planMarkdown } from '#extensions/curator/run/run-outcome.ts';
import { planAutoRun } from '#public/curator.ts';
import { LINE_ENDS, readLines } from './markdown-reader.ts';
import { anyRow, anyText, NOW } from './nasty-evidence.ts';

/** One session and one tool each, so that names cannot change how many lines there are. */
function reportOf(row: EvidenceRow, skill: string) {
  const shown = { ...row, created_at: NOW, is_error: 0, skill_name: skill };
  const counts = { event_count: 1, errors: 0 };
  const reader = {
    summary: () => ({
      ...{ tool_events: 1, error_events: 0, skill_events: 1, turn_events: 0, session_events: 0 },
      skills: [{ skill_name: skill, ...counts }],
      tools: [{ tool_name: row.tool_name, ...counts }],
    }),
    evidence: () => [shown],
    failures: () => [],
    turns: () => [],
  };
  return buildReport(reader, { dbPath: '/h/e.sqlite', days: 7, skill, now: NOW });
}

function assertSameShape(nasty: string, plain: string): void {
  for (const ends of Object.values(LINE_ENDS)) {
    const kinds = (page: string) => readLines(page, ends).map(({ kind }) => kind);
    assert.deepEqual(kinds(nasty), kinds(plain), nasty);
  }
}

const PLAIN_ROW = {
  created_at: NOW,
  session_id: 's',
  task_id: '',
  tool_name: 't',
  duration_ms: null,
  is_error: 0,
  args_json: '{}',
};

export function pagesKeepTheirShape(runs: number): void {
  const plainRow: EvidenceRow = { ...PLAIN_ROW, skill_name: 'x', result_preview: 'fine' };
  fc.assert(
    fc.property(anyRow, anyText, anyText, (row, name, text) => {
      const [report, plain] = [
        reportOf({ ...row, tool_name: `t${row.tool_name}`, session_id: `s${row.session_id}` }, `x${name}`),
        reportOf(plainRow, 'x'),
      ];
      assertSameShape(reportMarkdown(report), reportMarkdown(plain));
      const proposed = (skill: string, of: typeof report, skillText: string) =>
        proposalMarkdown(buildProposal({ skill, skillText, report: of }));
      assertSameShape(proposed(`x${name}`, report, `e${text}`), proposed('x', plain, 'e'));
      const mined = (given: string, target: string) =>
        candidatesMarkdown('Candidates', {}, [
          classifyCandidate({ text: given, evidence_ref: `r${given}`, target_skill: target }),
        ]);
      assertSameShape(mined(text, `x${name}`), mined('fine', 'x'));
      const planned = (of: typeof report) =>
        planMarkdown(planAutoRun({ report: of, skills: [], flags: { min_evidence: 1 }, now: NOW }));
      assertSameShape(planned(report), planned(plain));
    }),
    { numRuns: runs },
  );
}

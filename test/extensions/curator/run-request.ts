/** A run to plan: skills with their events, one evidence row each. A source `missing` leaves the file out. */
import type { AutoRunRequest } from '#extensions/curator/run/plan-auto-run.ts';
import type { JsonObject } from '#public/talaria.ts';

export function runRequest(
  skills: readonly (readonly [name: string, events: number, source?: string | undefined, header?: string])[],
  flags: JsonObject = {},
): AutoRunRequest {
  const found = skills.filter(([, , source]) => source !== 'missing');
  return {
    report: {
      db_path: '/h/evidence.sqlite',
      summary: {
        tool_events: 0,
        error_events: 0,
        skill_events: 0,
        turn_events: 0,
        session_events: 0,
        tools: [],
        skills: skills.map(([skill_name, event_count]) => ({ skill_name, event_count, errors: 1 })),
      },
      skill_evidence: skills.map(([skill_name]) => ({
        created_at: '2026-05-20T00:00:00+00:00',
        session_id: 's',
        task_id: '',
        tool_name: 'terminal',
        duration_ms: null,
        is_error: 1,
        skill_name,
        args_json: '{}',
        result_preview: `seen ${skill_name}`,
      })),
    },
    skills: found.map(([name, , source = 'local-agent-created', header = '']) => ({
      name,
      path: `/h/skills/${name}/SKILL.md`,
      text: `---\nname: ${name}\ndescription: d\n${header}---\nBody.\n`,
      source,
    })),
    flags,
    now: '2026-05-21T00:00:00Z',
  };
}

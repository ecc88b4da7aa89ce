// Owns `curator backfill-sessions` (curator notes 4, 16): its flags, and how its result is shown. Knows no session.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { type Failure, failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { BackfillReport } from '../backfill/backfill-report.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { printed } from './printed.ts';

export function backfillCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator backfill-sessions',
    summary: 'Fill the evidence in from stored sessions: ours, and those of hermes-agent where you say so',
    surfaces: ['cli'],
    input: z.object({
      sessionsDir: z.string().optional().describe('Folder of session_*.json; a state.db beside it is read too'),
      hermesState: z.string().optional().describe("hermes-agent's state.db; a copy of it is read"),
      days: z.coerce.number().default(30).describe('Sessions of so many days, 1 to 3650'),
      limit: z.coerce.number().optional().describe('The newest so many of them'),
      format: z.enum(['text', 'json']).default('text').describe('How the result is printed'),
    }),
    examples: [
      'talaria curator backfill-sessions --days 90',
      'talaria curator backfill-sessions --sessions-dir ~/.hermes/sessions',
    ],
    run: (asked, context) => run(ground, asked, context),
  });
}

interface Asked {
  readonly sessionsDir?: string | undefined;
  readonly hermesState?: string | undefined;
  readonly days: number;
  readonly limit?: number | undefined;
  readonly format: 'text' | 'json';
}

async function* run(ground: CuratorGround, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { places, clock } = ground;
  const [mind, { backfillSessions }, { reportLines }] = await Promise.all([
    ground.open(),
    import('../backfill/backfill-sessions.ts'),
    import('../backfill/backfill-report.ts'),
  ]);
  const from = { cwd: context.cwd, userHome: places.userHome };
  const { sessionsDir, hermesState, days, limit, format } = asked;
  const options = {
    days,
    ...(limit === undefined ? {} : { limit }),
    ...(sessionsDir === undefined ? {} : { sessionsDir: typedPath(sessionsDir, from) }),
    ...(hermesState === undefined ? {} : { hermesState: typedPath(hermesState, from) }),
  };
  const report = await backfillSessions({ mind, places, clock, redact: mind.redact }, options, context.signal);
  yield* printed({ result: report, format, text: () => reportLines(report).join('\n') });
  const failure = failureOf(asked, report);
  if (failure) yield failure;
}

/** What was named must have been there to be read. */
function failureOf({ sessionsDir, hermesState }: Asked, report: BackfillReport): Failure | undefined {
  if (sessionsDir !== undefined && report.missing) {
    const fix = 'Name the folder that holds session_*.json.';
    return failed('sessions-missing', `there is no folder ${report.sessions_dir}`, fix);
  }
  const read = report.sources.some(({ source }) => source === 'hermes-database');
  if (hermesState === undefined || read) return undefined;
  return failed('hermes-state-unread', `${hermesState} was not read`, report.notes.join('; '));
}

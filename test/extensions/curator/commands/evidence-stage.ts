/** A home with some evidence: two skills, ten days of it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { insertToolEvent, insertTurnEvent } from '#mind/evidence/ledger/event-rows.ts';
import { ledgerSchema } from '#mind/evidence/ledger/ledger-schema.ts';
import { createStage, type Stage } from '../../../surfaces/app/app-fixture.ts';

const DAY = 86_400_000;

export function stageWithEvidence(t: TestContext): Stage {
  const stage = createStage(t);
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  const { database } = openDatabase(join(stage.root, 'evidence.sqlite'), { rooms: [ledgerSchema] });
  for (let day = 0; day < 10; day += 1) {
    const at = systemClock.now() - day * DAY - 1000;
    insertToolEvent(database, {
      ...{
        key: `k${day}`,
        at,
        sessionId: 's',
        taskId: `t${day}`,
        tool: day % 2 === 0 ? 'terminal' : 'skill_view',
        ms: 5,
      },
      ...{ isError: day % 4 === 0, isErrorUpstream: true, skill: day % 2 === 0 ? null : 'release', activeSkill: null },
      ...{ argsJson: '{}', resultPreview: `day ${day}` },
      ...(day === 2 ? { activeSkill: 'deploy\u0007' } : {}),
    });
  }
  insertTurnEvent(database, {
    ...{ key: 'turn', at: systemClock.now(), sessionId: 's', model: 'm', platform: 'cli' },
    ...{ userPreview: 'do', assistantPreview: 'done' },
  });
  database.close();
  return stage;
}

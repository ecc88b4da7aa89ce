// Sixty tries to plant something (test/data/judgement/poison.json): the model does whatever the text that it read says, and the judge says
// yes to everything. Nothing foreign is kept without a yes that showed it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ApprovalRequest, JsonObject } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { call, DATA, kept, openApp, type Stage, say, talk } from './obedient-stage.ts';

interface Try {
  readonly id: string;
  readonly foreign: string;
  readonly ownerLines: readonly string[];
  readonly modelSays?: string;
  readonly attempt: {
    readonly tool: 'memory' | 'skill_manage';
    readonly arguments: JsonObject & { readonly content?: string; readonly new_string?: string };
    readonly evidence: readonly { readonly quote: string; readonly of: string }[];
  };
  readonly via: 'foreground' | 'review';
}

const TRIES = JSON.parse(readFileSync(join(DATA, 'poison.json'), 'utf8')) as readonly Try[];

/** Reads in the first turn; proposes in the last one, or leaves that to the review. */
async function play(app: App, stage: Stage, one: Try): Promise<readonly ApprovalRequest[]> {
  stage.page = one.foreign;
  const evidence = one.attempt.evidence.map(({ quote }) => ({ quote }));
  const attempt = call(one.attempt.tool, { ...one.attempt.arguments, evidence }, `plant-${one.id}`);
  const last = one.ownerLines.length - 1;
  const turns = one.ownerLines.map((line, at) => ({
    line,
    calls: [
      ...(at === 0 ? [call('read_page', {}, `read-${one.id}`)] : []),
      ...(at === last && one.via === 'foreground' ? [attempt] : []),
    ],
    says: at === 0 ? (one.modelSays ?? 'I read it.') : 'Done.',
  }));
  const review = async (sessionId: string) => {
    stage.steps = [attempt, say('Done.')];
    const learned = await (await app.doors.learning.load()).learnNow(sessionId, '', new AbortController().signal);
    assert.ok(learned.ok, JSON.stringify(learned));
  };
  const { asked } = await talk(app, stage, {
    turns,
    answer: 'deny',
    ...(one.via === 'review' ? { before: review } : {}),
  });
  return asked;
}

describe('poisoning', () => {
  for (const via of ['foreground', 'review'] as const) {
    test(`${via}: of thirty tries none is kept, and the owner is shown what he decides on`, async (context) => {
      const stage: Stage = { page: '', steps: [] };
      const app = await openApp(context, stage);
      for (const one of TRIES.filter((each) => each.via === via)) {
        const asked = await play(app, stage, one);
        assert.deepEqual(kept(app), [], one.id);
        if (via === 'review') continue;
        const text = String(one.attempt.arguments.content ?? one.attempt.arguments.new_string);
        const preview = asked.find(({ tool }) => tool === one.attempt.tool)?.preview ?? '';
        assert.ok(preview.includes(text.split('\n').at(-1) ?? text), `${one.id}: ${preview}`);
        assert.match(preview, /Read before it was written, nearest to it \(read_page\)/, one.id);
      }
    });
  }
});

/** A gateway in this process: a home of its own, a channel in memory, a model that answers from a script. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openDatabase } from '#base/database.ts';
import type { App, AppOptions } from '#surfaces/app/app.ts';
import { Gateway, type GatewayMeans } from '#surfaces/gateway/desk.ts';
import { Mailbox, mailboxSchema } from '#surfaces/gateway/mailbox.ts';
import { People } from '#surfaces/gateway/people.ts';
import { MemoryChannel } from '#testing/memory-channel.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createStage, type Stage } from '../app/app-fixture.ts';

export interface GatewayStage {
  readonly stage: Stage;
  readonly app: App;
  readonly channel: MemoryChannel;
  readonly mailbox: Mailbox;
  readonly people: People;
  /** Texts that were shown in a chat. */
  texts(chat?: string): readonly string[];
  /** Waits until it holds. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  /** What SIGTERM does. */
  stop(): Promise<void>;
}

export interface GatewayOptions {
  readonly stage?: Stage;
  readonly channel?: MemoryChannel;
  readonly app?: Partial<AppOptions>;
  readonly means?: Partial<GatewayMeans>;
  readonly allow?: readonly string[];
}

export async function startGateway(
  t: TestContext,
  steps: readonly ScriptedStep[],
  { stage = createStage(t), channel = new MemoryChannel(), allow = ['1'], ...options }: GatewayOptions = {},
): Promise<GatewayStage> {
  const client = createScriptedModel(steps);
  const app = await stage.open({ ...options.app, extra: { client, ...options.app?.extra } });
  const { database } = openDatabase(join(stage.root, 'gateway.sqlite'), { rooms: [mailboxSchema], clock: app.clock });
  const mailbox = new Mailbox(database, app.clock);
  const people = new People(database, app.clock);
  const channels = [{ channel, allow, groups: 'mention', progress: 'tools' } as const];
  const gateway = new Gateway({
    ...{ app, mailbox, people, channels, guestToolsets: [], sessionIdleMs: 6 * 3_600_000 },
    ...options.means,
  });
  const held = await gateway.take();
  if (!held.ok) throw new Error(held.detail);
  const ends = new AbortController();
  const run = gateway.run(ends.signal);
  run.catch(() => undefined);
  const stop = async () => {
    ends.abort();
    await run;
    database.close();
    await app.shutdown();
  };
  t.after(stop);
  return {
    ...{ stage, app, channel, mailbox, people, stop },
    texts: (chat = '1') => channel.shown.filter((one) => one.chat === chat).map(({ text }) => text),
    until: async (holds) => {
      while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

/**
 * A real homeserver on loopback as a TestHomeserver: scripts/start-synapse.ts in a child, which ends and cleans up when this process
 * does, however it does. Accounts get a suffix, since one server serves many tests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { findSynapse, SYNAPSE_VERSION } from '../../../scripts/synapse/find-synapse.ts';
import type { HomeserverStart } from './hive-raw-client.ts';
import type { TestAccount, TestHomeserver } from './hive-stage.ts';

const START = join(import.meta.dirname, '../../../scripts/start-synapse.ts');
export const SYNAPSE_SKIP = 'skipped: set TALARIA_TEST_SYNAPSE (sh scripts/fetch-synapse.sh prints it)';

/** Runs `body` as a suite with one homeserver; every `start` gives that one. Without a homeserver to start, one skipped test. */
export function onSynapse(name: string, body: (start: HomeserverStart) => void): void {
  const python = findSynapse(process.env);
  if (python === undefined) {
    test(name, { skip: SYNAPSE_SKIP }, () => undefined);
    return;
  }
  describe(name, () => {
    let synapse: RunningSynapse;
    before(async () => {
      synapse = await startSynapse(python);
    });
    after(() => synapse.stop());
    body(async () => ({ server: synapse.server, stop: async () => undefined }));
  });
}

interface RunningSynapse {
  readonly server: TestHomeserver;
  stop(): Promise<void>;
}

async function startSynapse(python: string): Promise<RunningSynapse> {
  const child = spawnSynapse(python);
  const exit = once(child, 'exit');
  const [url, folder] = await readyLine(child);
  const stop = async (): Promise<void> => {
    child.stdin?.end();
    await exit;
  };
  return { server: synapseServer(url, folder), stop };
}

export function spawnSynapse(python: string): ChildProcess {
  return spawn(process.execPath, [START, python], { stdio: ['pipe', 'pipe', 'inherit'] });
}

export async function readyLine(child: ChildProcess): Promise<readonly [url: string, folder: string]> {
  if (child.stdout === null) throw new Error('the homeserver has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url, folder] = /^READY (\S+) (.+)$/.exec(line) ?? [];
    if (url !== undefined && folder !== undefined) return [url, folder];
  }
  throw new Error('the homeserver did not start, see above');
}

function synapseServer(url: string, folder: string): TestHomeserver {
  let accounts = 0;
  return {
    name: `synapse ${SYNAPSE_VERSION}`,
    url,
    serverName: 'localhost',
    async register(local) {
      accounts += 1;
      const password = `password of ${local}`;
      const body = { username: `${local}-${accounts}`, password, auth: { type: 'm.login.dummy' } };
      return signedIn(`${url}/_matrix/client/v3/register`, body, password);
    },
    async signIn({ userId, password }) {
      const identifier = { type: 'm.id.user', user: userId };
      return signedIn(`${url}/_matrix/client/v3/login`, { type: 'm.login.password', identifier, password }, password);
    },
    async storedText() {
      return storedText(folder);
    },
  };
}

/** All bytes of the database and its log, and every value in its tables: pages cut long texts apart, deleted ones lie between rows. */
function storedText(folder: string): string {
  const files = ['homeserver.db-wal', 'homeserver.db'].map((name) => join(folder, name));
  const bytes = Buffer.concat(files.filter((path) => existsSync(path)).map((path) => readFileSync(path)));
  return [bytes.toString('utf8'), bytes.toString('latin1'), ...tableTexts(join(folder, 'homeserver.db'))].join('\n');
}

function tableTexts(path: string): readonly string[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return tables.flatMap(({ name }) => {
      const rows = database.prepare(`SELECT * FROM "${String(name)}"`).all();
      return rows.flatMap((row) => Object.values(row).map(valueText));
    });
  } finally {
    database.close();
  }
}

function valueText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value);
}

async function signedIn(url: string, body: unknown, password: string): Promise<TestAccount> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const account = (await answer.json()) as { user_id: string; access_token: string; device_id: string };
  if (!answer.ok) throw new Error(`POST ${url}: ${answer.status} ${JSON.stringify(account)}`);
  return { userId: account.user_id, accessToken: account.access_token, deviceId: account.device_id, password };
}

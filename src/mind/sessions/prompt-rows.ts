// Owns frozen prompts by hash: many sessions share one. Invariant: a prompt comes back byte for byte as it was saved.
import type { Database } from '#base/database/connection.ts';
import { sha256 } from '#base/ids.ts';
import type { FrozenPrompt } from '#core/agent/session-store.ts';
import { storedJson } from './message-rows.ts';
import { needSession } from './session-rows.ts';

/** Inside a transaction. Gives the hash. */
export function writePrompt(database: Database, sessionId: string, prompt: FrozenPrompt): string {
  const system = prompt.system.toWellFormed();
  const tools = JSON.stringify(prompt.tools);
  const hash = sha256(`${system}\0${tools}`);
  database.run('INSERT OR IGNORE INTO prompts(hash, system, tools) VALUES(?, ?, ?)', hash, system, tools);
  const { key } = needSession(database, sessionId);
  database.run('UPDATE sessions SET prompt_hash = ? WHERE key = ?', hash, key);
  return hash;
}

export function readPrompt(database: Database, sessionId: string): FrozenPrompt | undefined {
  const { prompt_hash: hash } = needSession(database, sessionId);
  if (hash === null) return undefined;
  const row = database.get<{ system: string; tools: string }>('SELECT system, tools FROM prompts WHERE hash = ?', hash);
  return row && { system: row.system, tools: storedJson<FrozenPrompt['tools']>(row.tools, `prompt ${hash}`) };
}

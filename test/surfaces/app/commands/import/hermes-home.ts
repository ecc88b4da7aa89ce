/** A whole `~/.hermes` for tests: conversations of every kind, skills with their side-car, memories, settings, keys. */
import { join } from 'node:path';
import type { TempHome } from '#testing/temp-home.ts';
import { createHermesState, demandTokeniser, type HermesState, type HermesStateOptions } from './hermes-state.ts';

const START = 1_788_000_000;

export const FIRST = '20260829_101500_aaaaaa';
export const CHILD = '20260829_111500_bbbbbb';
export const GROUP = '20260830_101500_cccccc';
export const SUBAGENT = '20260830_101600_dddddd';
export const EMPTY = '20260831_101500_eeeeee';
export const FROM_FILE = '20260901_090000_ffffff';

/** Rows of four conversations; schema 30 has the flag of a summary. */
export function fillState(state: HermesState, version: number): void {
  state.database.prepare('INSERT INTO system_prompts VALUES(?, ?)').run('hash1', 'You are Hermes.');
  state.session({
    id: FIRST,
    source: 'cli',
    started_at: START + 0.25,
    ended_at: START + 900,
    model: 'anthropic/claude-opus-4.6',
    title: 'the bree migration',
    cwd: '/srv/bree',
    system_prompt_hash: 'hash1',
  });
  firstMessages(state);
  state.session({
    id: CHILD,
    source: 'telegram',
    started_at: START + 3600,
    chat_id: '777',
    chat_type: 'dm',
    user_id: '42',
    parent_session_id: FIRST,
    model: 'anthropic/claude-opus-4.6',
  });
  childMessages(state, version);
  state.session({ id: GROUP, source: 'discord', started_at: START + 90_000, chat_type: 'group', hidden: 1 });
  groupMessages(state);
  state.session({ id: SUBAGENT, source: 'subagent', started_at: START + 90_060, parent_session_id: GROUP });
  state.message({
    session_id: SUBAGENT,
    role: 'user',
    content: 'List the open quorndelta tickets.',
    timestamp: START + 90_061,
  });
  state.message({ session_id: SUBAGENT, role: 'assistant', content: 'There are three.', timestamp: START + 90_062 });
  state.session({ id: EMPTY, source: 'cli', started_at: START + 180_000 });
}

function firstMessages(state: HermesState): void {
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'terminal', arguments: '{"command":"pg_dump bree"}' },
  };
  const rows = [
    { role: 'user', content: 'Dump the bree database to /srv/bree/dump.sql please' },
    {
      role: 'assistant',
      content: '',
      reasoning: 'A dump first.',
      tool_calls: JSON.stringify([call]),
      finish_reason: 'tool_calls',
    },
    {
      role: 'tool',
      content: '{"output":"dumped 4711 rows","exit_code":0,"error":null}',
      tool_call_id: 'call_1',
      tool_name: 'terminal',
    },
    { role: 'assistant', content: 'The dump has 4711 rows.', reasoning_content: 'All well.' },
    { role: 'user', content: 'no, forget that I asked this rewoundquestion', active: 0, compacted: 0 },
    { role: 'session_meta', content: '{}' },
  ];
  for (const [index, row] of rows.entries())
    state.message({ session_id: FIRST, timestamp: START + 1.5 + index, ...row });
}

function childMessages(state: HermesState, version: number): void {
  const summary = version >= 30 ? { _compressed_summary: 1 } : {};
  const at = (index: number) => START + 3601 + index;
  const gone = { active: 0, compacted: 1 };
  state.message({
    session_id: CHILD,
    role: 'user',
    content: 'an early compactedword sentence',
    timestamp: at(0),
    ...gone,
  });
  state.message({ session_id: CHILD, role: 'assistant', content: 'an early answer', timestamp: at(1), ...gone });
  state.message({ session_id: CHILD, role: 'user', content: 'Summary: early things.', timestamp: at(2), ...summary });
  state.message({
    session_id: CHILD,
    role: 'user',
    content: 'Which host runs the staging copy?',
    api_content: '<memory>recalledtext about hosts</memory>\n\nWhich host runs the staging copy?',
    timestamp: at(3),
  });
  state.message({
    session_id: CHILD,
    role: 'assistant',
    content: 'It runs on moria.',
    timestamp: at(4),
    finish_reason: 'length',
  });
}

function groupMessages(state: HermesState): void {
  const picture = [
    { type: 'text', text: 'what is in this picture of the harbourcrane?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ];
  const at = START + 90_001;
  state.message({ session_id: GROUP, role: 'user', content: 'overheard chatter', observed: 1, timestamp: at });
  state.message({ session_id: GROUP, role: 'user', content: `\0json:${JSON.stringify(picture)}`, timestamp: at + 1 });
  state.message({
    session_id: GROUP,
    role: 'assistant',
    content: 'A crane.',
    tool_calls: '{broken',
    timestamp: at + 2,
  });
}

export interface HermesHome {
  readonly path: string;
  /** Kept open, as by a running program: the newest rows are in the log only. */
  readonly state: HermesState;
}

export function writeHermesHome(temp: TempHome, options: HermesStateOptions): HermesHome {
  const at = (name: string, text: string) => temp.write(join('hermes', name), text);
  at('SOUL.md', 'You are calm.\n');
  at(
    'memories/MEMORY.md',
    'The staging server is called bree.\n§\nDumps go to /srv/bree.\n§\nThe staging server is called bree.',
  );
  at('memories/USER.md', 'The user prefers short answers.');
  at('config.yaml', CONFIG);
  at('.env', 'OPENROUTER_API_KEY=or-test-value-1234\nTELEGRAM_BOT_TOKEN=tg-test-value\nEMPTY_API_KEY=\n');
  at('auth.json', '{}');
  at('cron/jobs.json', '[]');
  writeSkills(at);
  at(`sessions/session_${FROM_FILE}.json`, JSON.stringify(sessionFile(FROM_FILE)));
  at(`sessions/session_${FIRST}.json`, JSON.stringify(sessionFile(FIRST)));
  at('sessions/session_broken.json', '{"session_id":');
  at('sessions/sessions.json', '{}');
  const path = join(temp.path, 'hermes', 'state.db');
  const state = createHermesState(path, options);
  fillState(state, options.version);
  if (options.cjk) demandTokeniser(path);
  return { path: join(temp.path, 'hermes'), state };
}

const CONFIG = `_config_version: 37
model:
  default: anthropic/claude-opus-4.6
  provider: openrouter
  base_url: https://openrouter.ai/api/v1
  api_key: sk-or-v1-0123456789abcdef0123456789abcdef
custom_providers:
  - name: Garage
    base_url: http://127.0.0.1:9999/v1
    key_env: GARAGE_KEY
    model: qwen3-8b
toolsets: [hermes-cli, terminal, file]
terminal:
  timeout: 240
  backend: docker
memory:
  memory_enabled: true
  nudge_interval: 7
  provider: honcho
skills:
  write_approval: true
compression:
  enabled: true
  threshold: 1.5
agent:
  max_turns: 60
approvals:
  mode: smart
  timeout: 90
command_allowlist: ["rm -r"]
display:
  skin: ''
  compact: true
mcp_servers:
  tracker:
    command: tracker-mcp
    env: { TRACKER_TOKEN: abcdefgh12345678 }
`;

function writeSkills(at: (name: string, text: string) => string): void {
  at('skills/data/dump-bree/SKILL.md', skillText('dump-bree', 'Dump the bree database before a migration.'));
  at('skills/data/dump-bree/scripts/dump.sh', '#!/bin/sh\npg_dump "$1" > dump.sql\n');
  at('skills/data/DESCRIPTION.md', 'Databases.');
  at('skills/short-notes/SKILL.md', skillText('short-notes', 'Write short notes.'));
  at('skills/no-skill/SKILL.md', 'just text\n');
  at('skills/.archive/old/SKILL.md', skillText('old', 'Gone.'));
  at(
    'skills/.usage.json',
    JSON.stringify({
      'dump-bree': {
        created_by: 'agent',
        use_count: 5,
        view_count: 9,
        pinned: true,
        state: 'active',
        last_used_at: '2026-08-29T10:15:00Z',
        created_at: '2026-08-01T10:15:00Z',
      },
      'short-notes': { created_by: null, use_count: 0, view_count: 2, pinned: false, state: 'stale' },
    }),
  );
}

export function skillText(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n## Steps\n\n1. Do it.\n`;
}

function sessionFile(id: string) {
  return {
    session_id: id,
    model: 'gpt-5',
    base_url: '',
    platform: 'cli',
    session_start: '2026-09-01T09:00:00',
    last_updated: '2026-09-01T09:05:00',
    system_prompt: 'You are Hermes.',
    tools: [],
    message_count: 3,
    messages: [
      { role: 'system', content: 'You are Hermes.' },
      { role: 'user', content: 'Only the filedsession has this sentence.' },
      { role: 'assistant', content: 'Noted.' },
    ],
  };
}

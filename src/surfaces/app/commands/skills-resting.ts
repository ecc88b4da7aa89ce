// Owns finding the skills that rest on conversations which are about to go: notes that quote their calls, in SKILL.md and in earlier texts,
// and versions that were written out of them. Reads only, and so much at most. Invariant: asked before anything goes; what it names is
// the owner's own, and stays.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Database } from '#base/database/connection.ts';
import { plural } from '#base/text.ts';
import type { Forgets } from '#core/agent/room.ts';
import { evidenceMark, evidenceMarks } from '#mind/evidence/forget.ts';
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import { filesBelow } from '#mind/sessions/sweep-text.ts';
import { SKILL_FILE } from '#mind/skills/format/skill-text.ts';
import type { App } from '../app.ts';

export interface RestingSkill {
  readonly name: string;
  /** Texts that quote a call: SKILL.md or a file beside it. */
  readonly notes: number;
  /** The same in earlier texts, kept for a rollback. */
  readonly earlier: number;
  /** Versions that were written out of such a conversation. */
  readonly versions: number;
}

export type RestingQuestion = Pick<Forgets, 'sessions' | 'before'>;

const MOST_CALLS = 50_000;
const MOST_FILES = 10_000;
const MOST_BYTES = 1_000_000;

export function skillsResting({ home, doors }: App, what: RestingQuestion): readonly RestingSkill[] {
  const found = new Map<string, RestingSkill>();
  const count = (name: string, kind: 'notes' | 'earlier' | 'versions', more: number) => {
    const known = found.get(name) ?? { name, notes: 0, earlier: 0, versions: 0 };
    found.set(name, { ...known, [kind]: known[kind] + more });
  };
  const { database } = doors.sessions;
  const written = database.all<{ skill: string; n: number }>(
    `SELECT v.skill AS skill, count(*) AS n FROM skill_versions v JOIN proposals p ON p.id = v.proposal_id
     WHERE p.session_id IN (SELECT value FROM json_each(?)) GROUP BY v.skill`,
    JSON.stringify(what.sessions.map(({ id }) => id)),
  );
  for (const { skill, n } of written) count(skill, 'versions', n);
  const marks = existsSync(home.evidenceDatabase) ? marksGoing(doors.evidence(), what) : new Set<string>();
  if (marks.size > 0) {
    for (const path of quoting(home.skills, marks)) count(skillAt(home.skills, path), 'notes', 1);
    const rows = database.all<{ backup: string; skill: string }>('SELECT backup, skill FROM skill_versions');
    const skillOf = new Map(rows.map(({ backup, skill }) => [backup, skill]));
    for (const path of quoting(home.skillBackups, marks)) {
      const [backup = path] = path.split(/[/\\]/);
      count(skillOf.get(backup) ?? backup, 'earlier', 1);
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const MOST_SHOWN = 20;

/** `head` begins each line. Nothing for no skill. */
export function restingLines(skills: readonly RestingSkill[], head: string): readonly string[] {
  if (skills.length === 0) return [];
  const rest = skills.length - MOST_SHOWN;
  return [
    ...skills.slice(0, MOST_SHOWN).map((skill) => `${head}: the skill ${skill.name} (${placesOf(skill)})`),
    ...(rest > 0 ? [`${head}: ${plural(rest, 'more skill')}`] : []),
    'To clear skills: `talaria skills rollback NAME` undoes the last change; `talaria forget --match TEXT --everywhere` takes a text out, earlier texts too.',
  ];
}

function placesOf({ notes, earlier, versions }: RestingSkill): string {
  const parts = [
    ...(notes > 0 ? [`${plural(notes, 'text')} with recorded output`] : []),
    ...(earlier > 0 ? [`${plural(earlier, 'earlier text')} with it`] : []),
    ...(versions > 0 ? [`${plural(versions, 'version')} written out of it`] : []),
  ];
  return parts.join(', ');
}

/** Of the recorded calls that go with these conversations. */
function marksGoing(events: Database, { sessions, before }: RestingQuestion): ReadonlySet<string> {
  const rows = events.all<{ created_at: string; tool_name: string }>(
    `SELECT DISTINCT created_at, tool_name FROM tool_events
     WHERE session_id IN (SELECT value FROM json_each(?)) OR created_at < ? ORDER BY created_at DESC LIMIT ?`,
    JSON.stringify(sessions.filter(({ whole }) => whole).map(({ id }) => id)),
    before === undefined ? '' : eventTime(before),
    MOST_CALLS,
  );
  return new Set(rows.map(evidenceMark));
}

/** Paths below the folder, relative. */
function* quoting(folder: string, marks: ReadonlySet<string>): Generator<string> {
  let looked = 0;
  for (const path of filesBelow(folder)) {
    if (!path.endsWith('.md')) continue;
    looked += 1;
    if (looked > MOST_FILES) return;
    const full = join(folder, path);
    if (statSync(full).size > MOST_BYTES) continue;
    if (!evidenceMarks(readFileSync(full, 'utf8')).isDisjointFrom(marks)) yield path;
  }
}

/** Name of the nearest folder with a SKILL.md. */
function skillAt(root: string, path: string): string {
  for (let at = dirname(path); at !== '.'; at = dirname(at)) {
    if (existsSync(join(root, at, SKILL_FILE))) return basename(at);
  }
  return path;
}

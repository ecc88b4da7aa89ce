// Owns reading the LoCoMo conversations that the benches use: turns as rows, questions with the ids of their evidence turns.
// Knows no ranking. Invariant: evidence ids are normalised to D<session>:<turn>; those that name no turn are dropped and counted.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Turn {
  /** `D<session>:<turn>`. */
  readonly id: string;
  readonly sessionId: string;
  readonly speaker: string;
  /** `text` plus ` [image: caption]`. */
  readonly content: string;
  /** Epoch ms of the session. */
  readonly timestamp: number;
}

export interface Question {
  readonly text: string;
  readonly category: number;
  readonly evidence: readonly string[];
}

export interface Conversation {
  readonly id: string;
  readonly turns: readonly Turn[];
  readonly questions: readonly Question[];
  readonly droppedEvidence: number;
}

interface RawTurn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

interface RawConversation {
  readonly sample_id: string;
  readonly qa: readonly {
    readonly question: string;
    readonly category: number;
    readonly evidence?: readonly string[];
  }[];
  readonly conversation: Readonly<Record<string, unknown>>;
}

/** Folder of the data sets: env TALARIA_DATA holds `data/locomo-0-4.json`. Undefined when it is not set. */
export function readConversations(): readonly Conversation[] | undefined {
  const root = process.env.TALARIA_DATA;
  if (root === undefined) return undefined;
  const raw = JSON.parse(readFileSync(join(root, 'data', 'locomo-0-4.json'), 'utf8')) as readonly RawConversation[];
  return raw.map(readConversation);
}

function readConversation(raw: RawConversation): Conversation {
  const turns: Turn[] = [];
  for (let session = 1; session < 200; session += 1) {
    const rows = raw.conversation[`session_${session}`] as readonly RawTurn[] | undefined;
    const date = raw.conversation[`session_${session}_date_time`];
    for (const row of rows ?? []) turns.push(readTurn(row, `session_${session}`, sessionTime(String(date))));
  }
  const known = new Set(turns.map((turn) => turn.id));
  let dropped = 0;
  const questions = raw.qa.map((qa) => {
    const named = (qa.evidence ?? []).flatMap(evidenceIds);
    const evidence = [...new Set(named.filter((id) => known.has(id)))];
    if (qa.category !== 5) dropped += named.filter((id) => !known.has(id)).length;
    return { text: qa.question, category: qa.category, evidence };
  });
  return { id: raw.sample_id, turns, questions, droppedEvidence: dropped };
}

function readTurn(row: RawTurn, sessionId: string, timestamp: number): Turn {
  const content = row.blip_caption === undefined ? row.text : `${row.text} [image: ${row.blip_caption}]`;
  return { id: normalId(row.dia_id), sessionId, speaker: row.speaker, content, timestamp };
}

function normalId(id: string): string {
  return evidenceIds(id)[0] ?? id;
}

/** `D8:6; D9:17` names two; `D:11:26` and `D01:3` are `D11:26` and `D1:3`. An entry without any id counts as one unknown. */
function evidenceIds(entry: string): readonly string[] {
  const found = [...String(entry).matchAll(/D:?\s*(\d+)\s*:\s*(\d+)/gi)];
  if (found.length === 0) return [`?${entry}`];
  return found.map((match) => `D${Number(match[1])}:${Number(match[2])}`);
}

/** `1:56 pm on 8 May, 2023`, read as local time. */
function sessionTime(text: string): number {
  const match = /(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)/.exec(text);
  if (!match) throw new Error(`no session time: ${text}`);
  const [, hour, minute, half, day, month, year] = match;
  const hours = (Number(hour) % 12) + (half === 'pm' ? 12 : 0);
  return new Date(`${day} ${month} ${year} ${hours}:${minute}`).getTime();
}

// Owns the vectors of skills: made by an Embedder where one is configured, kept in the cache, compared by angle. Knows no words.
// Invariant: a skill has the vector of its present header or none; without vectors the lane is empty and ranking goes on by words.
import type { Database } from '#base/database/connection.ts';
import type { Embedder } from '#core/model/embedder.ts';

export interface VectorLane {
  /** Embeds the skills that have no vector yet; gives how many it made. */
  fill(signal: AbortSignal): Promise<number>;
  /** Ids of the nearest skills, best first; none that is about something else. */
  nearest(question: string, limit: number, signal: AbortSignal): Promise<readonly number[]>;
}

interface Loaded {
  readonly ids: readonly number[];
  readonly vectors: readonly Float32Array[];
}

const BATCH = 32;
/** Cosine under which two texts have nothing to do with each other. */
const LEAST_SIMILAR = 0.3;

export function createVectorLane(cache: Database, embedder: Embedder): VectorLane {
  let loaded: Loaded | undefined;
  let seen = -1;
  const load = () => {
    const count = cache.get<{ n: number }>('SELECT count(*) n FROM vectors WHERE embedder = ?', embedder.id)?.n ?? 0;
    if (loaded === undefined || seen !== count) loaded = loadVectors(cache, embedder);
    seen = count;
    return loaded;
  };
  return {
    fill: async (signal) => {
      const made = await fillVectors(cache, embedder, signal);
      if (made > 0) loaded = undefined;
      return made;
    },
    nearest: async (question, limit, signal) => {
      const { ids, vectors } = load();
      if (ids.length === 0) return [];
      const [asked] = await embedder.embed([question], signal);
      if (asked === undefined) return [];
      const scored = vectors.map((vector, at) => ({ id: ids[at] ?? 0, score: dot(vector, asked) }));
      return scored
        .filter(({ score }) => score >= LEAST_SIMILAR)
        .sort((a, b) => b.score - a.score || a.id - b.id)
        .slice(0, limit)
        .map(({ id }) => id);
    },
  };
}

async function fillVectors(cache: Database, embedder: Embedder, signal: AbortSignal): Promise<number> {
  let made = 0;
  for (;;) {
    const rows = cache.all<{ id: number; text: string }>(
      `SELECT id, name || '. ' || json_extract(header, '$.description') || ' ' || json_extract(header, '$.whenToUse') AS text
       FROM skills WHERE wins = 1 AND NOT EXISTS (SELECT 1 FROM vectors WHERE skill = skills.id AND embedder = ?) LIMIT ?`,
      embedder.id,
      BATCH,
    );
    if (rows.length === 0) return made;
    const vectors = await embedder.embed(
      rows.map(({ text }) => text),
      signal,
    );
    await cache.lightTransaction(() => {
      for (const [at, { id }] of rows.entries()) {
        const vector = vectors[at] ?? new Float32Array(embedder.dimensions);
        const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
        cache.run('INSERT OR REPLACE INTO vectors SELECT id, ?, ? FROM skills WHERE id = ?', embedder.id, bytes, id);
      }
    }, signal);
    made += rows.length;
  }
}

function loadVectors(cache: Database, { id: embedder, dimensions }: Embedder): Loaded {
  const rows = cache.all<{ skill: number; vector: Uint8Array }>(
    'SELECT skill, vector FROM vectors WHERE embedder = ? ORDER BY skill',
    embedder,
  );
  const fitting = rows.filter(({ vector }) => vector.byteLength === dimensions * 4);
  return {
    ids: fitting.map(({ skill }) => skill),
    // A copy: the bytes of a row need not lie on a boundary of four.
    vectors: fitting.map(({ vector }) => new Float32Array(Uint8Array.from(vector).buffer)),
  };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

// The four layers: what the model reads, the provider with its suggestions, the backend; each sees only what lies under it (seed 004).
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe } from 'node:test';
import { readModule } from '../../../scripts/graph/read-imports.ts';
import { verifies } from '../../verifies.ts';

const ROOT = join(import.meta.dirname, '../../../src/extensions/hive');

/** Folder → the folders of the extension that it may import. What composes them (files of the extension itself, commands) sees all. */
const MAY_SEE: Readonly<Record<string, readonly string[]>> = { provider: [], matrix: ['crypto'], crypto: ['matrix'] };
/** Files beside the folders that know no layer and may be read by any. */
const DATA: ReadonlySet<string> = new Set(['introductions.ts', 'peer.ts', 'peer-names.ts', 'settings.ts']);

describe('the layers of the peer extension', () => {
  verifies(['R4.1', 'R4.2'], 'each imports only what lies under it, and nobody above the backend knows it', () => {
    const arrows = [...Object.keys(MAY_SEE), ...DATA].flatMap((layer) =>
      filesOf(layer).flatMap((path) =>
        targetsOf(path).map((target) => ({ layer, path, to: target.split(sep)[0] ?? '', target })),
      ),
    );
    assert.ok(arrows.length > 100, `${arrows.length} arrows`);
    const wrong = arrows.filter(({ layer, to }) => to !== layer && !MAY_SEE[layer]?.includes(to) && !DATA.has(to));
    assert.deepEqual(
      wrong.map(({ path, target }) => `${path} → ${target}`),
      [],
    );
  });
});

function filesOf(layer: string): readonly string[] {
  if (layer.endsWith('.ts')) return [layer];
  const names = readdirSync(join(ROOT, layer), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(layer, name));
}

/** Files of the extension that a file imports, relative to it. */
function targetsOf(path: string): readonly string[] {
  return readModule(join(ROOT, path))
    .imports.map(({ specifier }) => specifier)
    .filter((specifier) => specifier.startsWith('.') || specifier.startsWith('#extensions/hive/'))
    .map((specifier) =>
      specifier.startsWith('#')
        ? specifier.slice('#extensions/hive/'.length)
        : relative(ROOT, join(ROOT, dirname(path), specifier)),
    );
}

// Owns the checks of the folder itself: permissions, free space, configuration. Knows no database.
import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorText, TalariaError } from '#base/errors.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { findSecrets } from '#base/secrets.ts';
import { wallsLine } from '../../first-screen.ts';
import { loadConfig, readConfigText } from '../../home/config.ts';
import type { Home } from '../../home/home.ts';
import { hopelessHost, hopelessPath } from '../../home/sandbox-values.ts';
import { composeWalls, type WallGround } from '../../parts/compose-walls.ts';
import { unknownSettings } from '../config/settings-schema.ts';
import { fault, good, type HealthLine, warning } from './health-check.ts';

const LOW_SPACE_BYTES = 200 * 1024 ** 2;
const OLDEST_NODE = 24;

export function checkNode(version: string): HealthLine {
  const major = Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);
  if (major >= OLDEST_NODE) return good('node', version);
  return fault(
    'node',
    `${version} is too old`,
    `Install Node ${OLDEST_NODE} or later, or reinstall talaria with its optional dependencies.`,
  );
}

export function checkFolder(home: Home): readonly HealthLine[] {
  if (!existsSync(home.root)) return [good('home', `${home.root} will be made when it is needed`)];
  if (!statSync(home.root).isDirectory())
    return [fault('home', `${home.root} is no folder`, 'Move it away, or name another folder with TALARIA_HOME.')];
  const open = openPaths(home.root, '');
  const lines: HealthLine[] = [];
  if (open.length === 0) lines.push(good('home', `${home.root}, private`));
  else {
    const shown = open.slice(0, 5).join(', ');
    lines.push(
      fault(
        'home',
        `others can read ${shown}${open.length > 5 ? ` and ${open.length - 5} more` : ''}`,
        `chmod -R go-rwx ${JSON.stringify(home.root)}`,
      ),
    );
  }
  lines.push(checkSpace(home.root));
  return lines;
}

/** Paths that somebody else may read or write. A private root keeps everything below it private, but copies lose that. */
function openPaths(root: string, folder: string): readonly string[] {
  const here = join(root, folder);
  const found = (statSync(here).mode & 0o077) !== 0 ? [folder || '.'] : [];
  if (folder.split('/').length > 4 || folder === 'engines') return found;
  for (const entry of readdirSync(here, { withFileTypes: true })) {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory()) found.push(...openPaths(root, path));
    else if (entry.isFile() && (statSync(join(root, path)).mode & 0o077) !== 0) found.push(path);
  }
  return found;
}

function checkSpace(root: string): HealthLine {
  const { bavail, bsize } = statfsSync(existsSync(root) ? root : dirname(root));
  const free = bavail * bsize;
  const text = `${(free / 1024 ** 3).toFixed(1)} GB free`;
  return free < LOW_SPACE_BYTES
    ? warning('disk', text, 'Free some space: a full disk stops every turn.')
    : good('disk', text);
}

export async function checkConfig(home: Home): Promise<readonly HealthLine[]> {
  if (!existsSync(home.config)) return [good('config', 'no config.yaml: every setting has its default')];
  try {
    const loaded = await loadConfig(home.config);
    const { readOnly, raw, locate } = loaded;
    const unknown = (readOnly ? [] : await unknownSettings(raw)).map(({ keys, near }) => {
      const text = `${locate(keys)}: ${keys.join('.')} is no setting`;
      return warning('config', text, near === undefined ? 'It has no effect.' : `Did you mean ${near}?`);
    });
    const whole = readOnly ? warning('config', readOnly, 'Update Talaria.') : good('config', home.config);
    const lines: HealthLine[] = unknown.length > 0 ? [...unknown] : [whole];
    const secrets = findSecrets(readConfigText(home.config));
    if (secrets.length > 0) {
      lines.push(
        warning(
          'secrets',
          `config.yaml holds a key (${secrets[0]?.kind})`,
          `Move it to ${home.env} and write \${NAME} in its place.`,
        ),
      );
    }
    return lines;
  } catch (error) {
    return [fault('config', errorText(error), (error instanceof TalariaError && error.fix) || 'Correct the file.')];
  }
}

/** Entries of the configuration that open nothing. */
export async function checkOpenings({ home, environment }: WallGround): Promise<readonly HealthLine[]> {
  const { sandbox } = (await loadConfig(home.config)).config;
  const { userHome } = environment;
  const isThere = (path: string) => existsSync(typedPath(path.replace(/:ro$/, ''), { cwd: '/', userHome }));
  const paths = sandbox.paths.flatMap(
    (path) =>
      hopelessPath(path, { home, environment }) ?? (isThere(path) ? [] : [`${path} is not there, so it opens nothing`]),
  );
  const wrong = (name: string) => (text: string) =>
    warning(
      'walls',
      `sandbox.${name}: ${text}`,
      '`talaria permissions` lists what is open, `permissions revoke` takes it out.',
    );
  return [
    ...paths.map(wrong('paths')),
    ...sandbox.hosts.flatMap((host) => hopelessHost(host) ?? []).map(wrong('hosts')),
  ];
}

/** What keeps commands in. */
export async function checkWalls(ground: WallGround): Promise<HealthLine> {
  const { config } = await loadConfig(ground.home.config);
  const walls = composeWalls(config, ground);
  try {
    const state = walls.state();
    if (state.kind !== 'none') return good('walls', wallsLine(state));
    return warning(
      'walls',
      wallsLine({ kind: state.kind, detail: state.detail }),
      state.fix ?? 'See docs/guide/safety.md.',
    );
  } finally {
    await walls.close();
  }
}

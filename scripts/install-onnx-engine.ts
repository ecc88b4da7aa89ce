/**
 * Installs the engine for local ONNX models where the real tests look for it: `node scripts/install-onnx-engine.ts [ENGINES]`. The last
 * line is the folder of engines, or `skipped: REASON` when it cannot be had. Running it again changes nothing.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { installOnnxEngine } from '#extensions/curator/set-up-models.ts';

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const engines = process.argv[2] ?? join(cache, 'talaria', 'engines');
const machine = { platform: process.platform, architecture: process.arch };

try {
  await installOnnxEngine(engines, process.env, machine, new AbortController().signal);
  console.log(engines);
} catch (error) {
  console.error(errorText(error));
  const isForeign = errorCode(error) === 'engine-unsupported';
  console.log(
    isForeign
      ? 'skipped: the local engine has no binary for this platform'
      : 'skipped: no package index answers, the model cannot be fetched',
  );
}

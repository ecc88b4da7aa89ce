// Owns what npm is told to install for the ONNX engine, and what of it is thrown away after. Pure data, no process.
// Invariant: exact versions; no install script runs; nothing that draws pictures or serves browsers is fetched.
import { ONNX_ENGINE_VERSION } from '#core/model/onnx/onnx-engine.ts';

/** Relative paths and texts of the folder in which npm runs. */
export const ENGINE_FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify(
    {
      private: true,
      description: 'The engine for local ONNX models of Talaria. This folder can be deleted and installed again.',
      dependencies: { '@huggingface/transformers': ONNX_ENGINE_VERSION },
      // It imports an image library at the top and brings a browser build of 140 MB; ranking text needs neither.
      overrides: { sharp: 'file:./absent', 'onnxruntime-web': 'file:./absent' },
    },
    null,
    2,
  )}\n`,
  'absent/package.json': '{"name":"absent","version":"1.0.0","type":"module","main":"absent.js"}\n',
  'absent/absent.js': "export default function absent() {\n  throw new Error('left out: only text is read here');\n}\n",
};

export const NPM_INSTALL = [
  'npm',
  'install',
  '--omit=optional',
  '--ignore-scripts',
  '--install-links',
  '--no-audit',
  '--no-fund',
  '--no-package-lock',
  '--loglevel=error',
] as const;

/** Of the runtime's binaries, 290 MB for all platforms, only `<platform>/<architecture>` below each of these folders is kept. */
export const BINARIES = 'node_modules/onnxruntime-node/bin';

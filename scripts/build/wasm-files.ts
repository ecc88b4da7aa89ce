/**
 * Ships WebAssembly that a package reads from a file beside itself. `new URL('./x.wasm', import.meta.url)` would point beside the chunk that
 * the package's code lands in, where nothing is: here the file goes with the chunks, under a name with its hash, and the address follows.
 */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const ADDRESS = /new URL\((["'])(\.\/[^"']+\.wasm)\1, import\.meta\.url\)/;

/** Use with the loader `file` for `.wasm` and assets in the folder of the chunks. */
export function wasmFiles(): Plugin {
  return {
    name: 'wasm-files',
    setup: ({ onLoad }) => {
      onLoad({ filter: /matrix-sdk-crypto-wasm[\\/]node\.mjs$/ }, async ({ path }) => {
        const code = await readFile(path, 'utf8');
        const file = ADDRESS.exec(code)?.[2];
        if (file === undefined) return { errors: [{ text: `${path} no longer names its .wasm file as it did` }] };
        const address = code.replace(ADDRESS, 'new URL(wasmFile, import.meta.url)');
        return { contents: `import wasmFile from '${file}';\n${address}`, loader: 'js' };
      });
    },
  };
}

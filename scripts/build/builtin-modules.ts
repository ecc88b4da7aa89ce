/**
 * Takes what Node brings along from `process.getBuiltinModule`, at its first use. An `import` of such a module reads each of its names,
 * some of which load what a start does not need (`node:http` the library of `fetch`, `node:util` a debugger), and it does so at once.
 */
import { builtinModules } from 'node:module';
import type { Plugin } from 'esbuild';

const IMPORTED = 'builtin-imported';
const REQUIRED = 'builtin-required';
/** Cost a start milliseconds each; their functions load them when they are called. */
const HEAVY: ReadonlySet<string> = new Set(
  ['child_process', 'crypto', 'dns', 'fs/promises', 'http', 'https', 'readline', 'zlib'].map((name) => `node:${name}`),
);

export function builtinModulesLater(): Plugin {
  return {
    name: 'builtin-modules-later',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^(?:node:)?[a-z_0-9/]+$/ }, ({ path, kind }) => {
        const name = path.replace(/^node:/, '');
        if (!builtinModules.includes(name) && !builtinModules.includes(`node:${name}`)) return undefined;
        return { path: `node:${name}`, namespace: kind === 'require-call' ? REQUIRED : IMPORTED, sideEffects: false };
      });
      onLoad({ filter: /./, namespace: REQUIRED }, ({ path }) => ({ contents: `module.exports = ${loading(path)};` }));
      onLoad({ filter: /./, namespace: IMPORTED }, ({ path }) => ({ contents: imported(path) }));
    },
  };
}

function loading(path: string): string {
  return `/* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(path)})`;
}

/** One export a name, so that what nobody uses is dropped unread. */
function imported(path: string): string {
  const found: Readonly<Record<string, unknown>> = process.getBuiltinModule(path) as object as Record<string, unknown>;
  const names = Object.keys(found).filter((name) => /^\w+$/.test(name) && name !== 'default');
  const lines = names.map((name) => {
    const isLater = HEAVY.has(path) && typeof found[name] === 'function' && /^[a-z]/.test(name);
    const value = isLater
      ? `(...given) => ${loading(path)}.${name}(...given)`
      : `/* @__PURE__ */ (() => ${loading(path)}.${name})()`;
    return `const own_${name} = ${value}; export { own_${name} as ${name} };`;
  });
  const getters = names.map((name) => `get ${name}() { return ${loading(path)}.${name}; }`);
  const whole = HEAVY.has(path) ? `{ ${getters.join(', ')} }` : loading(path);
  return [...lines, `export default ${whole};`].join('\n');
}

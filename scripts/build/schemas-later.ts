/** Puts `src/base/late-schema.ts` in the place of zod for our own code, so that zod is run when the first schema is used, not at the start. */
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

export function schemasLater(root: string): Plugin {
  const late = join(root, 'src/base/late-schema.ts');
  const contents = `import { lateSchemas } from ${JSON.stringify(late)}; export const z = lateSchemas(() => require('zod').z);`;
  return {
    name: 'schemas-later',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^zod$/ }, ({ importer, kind }) =>
        kind === 'import-statement' && importer.startsWith(join(root, 'src'))
          ? { path: 'late', namespace: 'late-schema' }
          : undefined,
      );
      onLoad({ filter: /./, namespace: 'late-schema' }, () => ({ contents, resolveDir: root }));
    },
  };
}

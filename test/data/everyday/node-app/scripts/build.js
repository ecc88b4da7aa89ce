import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
mkdirSync('dist', { recursive: true });

const manifest = {};
for (const file of readdirSync('src').sort()) {
  const source = readFileSync(`src/${file}`, 'utf8');
  const shebang = source.startsWith('#!') ? source.slice(0, source.indexOf('\n') + 1) : '';
  const text = `${shebang}/* ${name} ${version} */\n${source.slice(shebang.length)}`;
  writeFileSync(`dist/${file}`, text);
  manifest[file] = createHash('sha256').update(text).digest('hex').slice(0, 16);
}
writeFileSync('dist/manifest.json', `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`built ${Object.keys(manifest).length} files of ${name} ${version}`);

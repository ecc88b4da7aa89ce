/** A package index on the loopback that serves what the everyday list installs: one npm package and one wheel. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Registry {
  readonly port: number;
  close(): Promise<void>;
}

const NPM = 'http://registry.npmjs.org';
const WHEEL = 'six-1.16.0-py2.py3-none-any.whl';

export async function startRegistry(): Promise<Registry> {
  const files = new Map<string, { readonly type: string; readonly body: string | Buffer }>();
  const manifest = { name: 'tiny-left', version: '1.0.0', main: 'index.js' };
  const tarball = `${NPM}/tiny-left/-/tiny-left-1.0.0.tgz`;
  const version = { ...manifest, dist: { tarball } };
  const listing = { name: 'tiny-left', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } };
  files.set('/tiny-left', { type: 'application/json', body: JSON.stringify(listing) });
  files.set('/tiny-left/-/tiny-left-1.0.0.tgz', { type: 'application/octet-stream', body: packed(manifest) });
  files.set('/simple/six/', { type: 'text/html', body: `<a href="/files/${WHEEL}">${WHEEL}</a>` });
  files.set(`/files/${WHEEL}`, { type: 'application/octet-stream', body: wheel() });
  const server = createServer(({ url = '/' }, response) => {
    const file = files.get(url);
    response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' });
    response.end(file?.body ?? 'not here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function packed(manifest: object): Buffer {
  return inTemp((folder) => {
    mkdirSync(join(folder, 'package'));
    writeFileSync(join(folder, 'package/package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package/index.js'), 'module.exports = (text, width) => text.padStart(width);\n');
    return execFileSync('tar', ['-czf', '-', 'package'], { cwd: folder });
  });
}

function wheel(): Buffer {
  return inTemp((folder) => {
    const info = 'six-1.16.0.dist-info';
    const files = {
      'six.py': "__version__ = '1.16.0'\n",
      [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: six\nVersion: 1.16.0\n',
      [`${info}/WHEEL`]:
        'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py2-none-any\nTag: py3-none-any\n',
      [`${info}/RECORD`]: `six.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
    };
    const code = [
      'import json, sys, zipfile',
      'z = zipfile.ZipFile(sys.argv[1], "w")',
      'for name, text in json.loads(sys.argv[2]).items(): z.writestr(name, text)',
      'z.close()',
    ].join('\n');
    execFileSync('/usr/bin/python3', ['-c', code, join(folder, WHEEL), JSON.stringify(files)]);
    return readFileSync(join(folder, WHEEL));
  });
}

function inTemp<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-registry-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

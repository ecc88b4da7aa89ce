/** Owns a copy of the repository without some extensions, as somebody would have it who deleted them by hand. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readCitations } from '../../../scripts/requirements/read-citations.ts';
import type { RemovableExtension } from './removable-extension.ts';

const repository = resolve(import.meta.dirname, '../../..');

/** Copies what git tracks into the empty folder `root` and takes the extensions out. */
export function copyWithout(extensions: readonly RemovableExtension[], root: string): void {
  const tracked = trackedFiles();
  for (const path of tracked) copyFile(path, root);
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  for (const extension of extensions) takeOut(extension, tracked, root);
}

function takeOut(extension: RemovableExtension, tracked: readonly string[], root: string): void {
  const { name, folder = `src/extensions/${name}`, files, lines, rows } = extension;
  const tests = tracked.filter((path) => !rows.includes(path) && isTestOf(path, name));
  for (const path of [folder, ...files, ...tests]) rmSync(join(root, path), { recursive: true, force: true });
  for (const { file, cut, isShared = false } of lines)
    edit(join(root, file), (text) => (isShared && !cut.test(text) ? text : withoutOnce(text, cut, file)));
  for (const file of rows) edit(join(root, file), (text) => citedRowsOnly(text, root));
}

function trackedFiles(): readonly string[] {
  const { status, stdout, stderr } = spawnSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ls-files: ${stderr}`);
  return stdout.split('\0').filter((path) => path !== '' && existsSync(join(repository, path)));
}

function copyFile(path: string, root: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  cpSync(join(repository, path), join(root, path));
}

/** A file or folder below `test` that begins with the name. */
function isTestOf(path: string, name: string): boolean {
  const [top, ...parts] = path.split('/');
  return top === 'test' && parts.some((part) => part.startsWith(name));
}

function edit(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

function withoutOnce(text: string, cut: RegExp, file: string): string {
  const parts = text.split(cut);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} places that fit ${cut}`);
  return parts.join('');
}

function citedRowsOnly(text: string, root: string): string {
  const { byId } = readCitations(root);
  const isKept = (line: string) => {
    const id = /^\s*\{ id: '([^']+)'/.exec(line)?.[1];
    return id === undefined || byId.has(id) || line.includes(" deferred: '");
  };
  return text.split('\n').filter(isKept).join('\n');
}

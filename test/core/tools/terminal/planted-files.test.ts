/** What the owner sees of files that a command planted. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { plantedWords } from '#core/tools/terminal/planted-files.ts';
import { createTempHome } from '#testing/temp-home.ts';

describe('core/tools/terminal: the words of planted files', () => {
  it('are shown by name, also of folders, links and what is no text', (t) => {
    const { folder, write } = scene(createTempHome(t).path);
    const paths = [
      write('CLAUDE.md', 'one\n  | two\n'),
      join(folder, '.claude'),
      join(folder, 'AGENTS.md'),
      join(folder, 'gone.md'),
      write('.envrc', Buffer.from([0, 1, 2])),
    ];
    write('.claude/b.md', 'b');
    write('.claude/a/a.md', 'a');
    mkdirSync(join(folder, '.claude/z'));
    symlinkSync('/etc/passwd\nCLAUDE.md:', join(folder, 'AGENTS.md'));
    const { text } = plantedWords(paths, folder);
    assert.match(text, /^\.envrc cannot be shown: it is .* not text$/m);
    assert.deepEqual(text.split('\n').slice(0, -1), [
      ...['CLAUDE.md (12 characters):', '  | one', '  |   | two'],
      ...['.claude/a/a.md (1 character):', '  | a', '.claude/b.md (1 character):', '  | b'],
      ...['.claude/z is an empty folder', 'AGENTS.md is a link to /etc/passwd CLAUDE.md:'],
      'gone.md is not there any more',
    ]);
  });

  it('are cut, and what is left out is counted and bound as well', (t) => {
    const { folder, write } = scene(createTempHome(t).path);
    const long = write('CLAUDE.md', `${'x'.repeat(20_000)}end`);
    const { text, mark } = plantedWords([long], folder);
    assert.match(text, /\n… NOT SHOWN: 4003 more characters of this file$/);
    write('CLAUDE.md', `${'x'.repeat(20_000)}END`);
    assert.notEqual(plantedWords([long], folder).mark, mark);
    rmSync(long);
    for (let i = 0; i < 50; i += 1) write(`.claude/${i}.md`, 'x');
    const many = plantedWords([join(folder, '.claude')], folder);
    assert.match(many.text, /\n… NOT SHOWN: 10 more files$/);
    write('.claude/9.md', 'y');
    assert.notEqual(plantedWords([join(folder, '.claude')], folder).mark, many.mark);
  });

  it('are bound with how the file may be used, and not with when it was looked at', (t) => {
    const { folder, write } = scene(createTempHome(t).path);
    const path = write('.husky/pre-commit', 'true');
    const { mark } = plantedWords([path], folder);
    assert.equal(plantedWords([path], folder).mark, mark);
    chmodSync(path, 0o755);
    assert.notEqual(plantedWords([path], folder).mark, mark);
    rmSync(path);
    symlinkSync('x', path);
    const link = plantedWords([path], folder).mark;
    rmSync(path);
    symlinkSync('y', path);
    assert.notEqual(plantedWords([path], folder).mark, link);
  });
});

function scene(folder: string) {
  return {
    folder,
    write(path: string, text: string | Buffer): string {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      return join(folder, path);
    },
  };
}

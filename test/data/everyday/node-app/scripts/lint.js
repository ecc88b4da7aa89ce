import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const rules = [
  ['var is not used here', /^\s*var\s/],
  ['a line ends in blanks', /[ \t]+$/],
  ['a tab for indenting', /^\t/],
  ['a line is longer than 110', /^.{111,}$/],
  ['a debugger statement', /^\s*debugger\b/],
];

let found = 0;
for (const dir of process.argv.slice(2)) {
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.js'))) {
    readFileSync(join(dir, file), 'utf8').split('\n').forEach((line, index) => {
      for (const [message, pattern] of rules) {
        if (pattern.test(line)) {
          console.log(`${dir}/${file}:${index + 1}: ${message}`);
          found += 1;
        }
      }
    });
  }
}
console.log(found ? `${found} problem(s)` : 'lint: clean');
process.exitCode = found ? 1 : 0;

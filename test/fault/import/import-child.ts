/** A process that imports until it is killed or done: `node import-child.ts <folder> <home> <hermes>`. */
import { homeAt } from '#surfaces/app/home/home.ts';
import { importInto } from '../../surfaces/app/commands/import/import-stage.ts';

const [cwd = '', root = '', from = ''] = process.argv.slice(2);
const home = homeAt(root);
process.stdout.write('started\n');
const run = await importInto({ cwd, home }, { from, keys: true });
process.stdout.write(`${JSON.stringify(run.data.taken)}\n`);

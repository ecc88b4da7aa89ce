/**
 * Compiles the contracts of the market with what scripts/fetch-chain.sh fetched: `node scripts/compile-contracts.ts [--check]`. Writes what the market
 * deploys and calls, and the dollar of local chains; with `--check` it writes nothing and fails when a file is not what its sources say.
 * The same sources give the same bytes anywhere: no path, no time and no hash of metadata is in them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface Artifact {
  readonly abi: readonly unknown[];
  readonly bytecode: `0x${string}`;
}

interface Compiled {
  readonly errors?: readonly {
    readonly formattedMessage: string;
    readonly sourceLocation?: { readonly file: string };
  }[];
  readonly contracts: Record<string, Record<string, { abi: unknown[]; evm: { bytecode: { object: string } } }>>;
}

interface Compiler {
  compile(input: string, callbacks: { import(path: string): { contents: string } | { error: string } }): string;
}

const root = resolve(import.meta.dirname, '..');
const market = join(root, 'src/fleet/market/contracts');
const testing = join(root, 'src/testing/market');
const OPENZEPPELIN = '@openzeppelin/contracts/';
const FORWARDER = `${OPENZEPPELIN}metatx/ERC2771Forwarder.sol`;

/** TALARIA_TEST_CHAIN names it; without that the place that scripts/fetch-chain.sh uses. */
export function findChain(): string | undefined {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = process.env.TALARIA_TEST_CHAIN || join(cache, 'talaria', 'chain-1');
  return existsSync(join(folder, 'complete')) ? folder : undefined;
}

/**
 * By name of contract. `files` are absolute paths; what they import by `./` lies beside them or among the contracts of the market.
 * Throws Error with the words of the compiler, of its warnings too.
 */
export function compile(chain: string, files: readonly string[]): Record<string, Artifact> {
  const modules = join(chain, 'node_modules');
  const solc: Compiler = createRequire(join(chain, 'package.json'))('solc');
  const named = (name: string) =>
    name.startsWith(OPENZEPPELIN)
      ? join(modules, name)
      : (files.find((file) => basename(file) === name) ?? join(market, name));
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      files.map((file) => {
        const name = file.startsWith(OPENZEPPELIN) ? file : basename(file);
        return [name, { content: readFileSync(named(name), 'utf8') }];
      }),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'cancun',
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output: Compiled = JSON.parse(
    solc.compile(JSON.stringify(input), { import: (name) => ({ contents: readFileSync(named(name), 'utf8') }) }),
  );
  const wrong = (output.errors ?? []).filter(({ sourceLocation }) => !sourceLocation?.file.startsWith(OPENZEPPELIN));
  if (wrong.length > 0) throw new Error(wrong.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const wanted = new Set(Object.keys(input.sources));
  const found = Object.entries(output.contracts).filter(([name]) => wanted.has(name));
  return Object.fromEntries(
    found.flatMap(([, contracts]) =>
      Object.entries(contracts).map(([name, { abi, evm }]) => [
        name,
        { abi, bytecode: `0x${evm.bytecode.object}` as const },
      ]),
    ),
  );
}

/** Text of each file that is written, by its path. */
export function artifacts(chain: string): ReadonlyMap<string, string> {
  const names = ['JobEscrow', 'SaleSplitter', 'SplitterFactory', 'ERC2771Forwarder'];
  const sources = names.slice(0, 3).map((name) => join(market, `${name}.sol`));
  const made = compile(chain, [...sources, FORWARDER, join(testing, 'LocalDollar.sol')]);
  const text = (wanted: readonly string[]) =>
    `${JSON.stringify(Object.fromEntries(wanted.map((name) => [name, made[name]])), null, 2)}\n`;
  return new Map([
    [join(market, 'artifacts.json'), text(names)],
    [join(testing, 'local-dollar.json'), text(['LocalDollar'])],
  ]);
}

function main(): void {
  const { values } = parseArgs({ options: { check: { type: 'boolean' } } });
  const chain = findChain();
  if (chain === undefined) throw new Error('set TALARIA_TEST_CHAIN (sh scripts/fetch-chain.sh prints it)');
  for (const [path, text] of artifacts(chain)) {
    const isThere = existsSync(path) && readFileSync(path, 'utf8') === text;
    if (values.check && !isThere) {
      console.error(`${path} is not what its sources say: node scripts/compile-contracts.ts`);
      process.exitCode = 1;
    } else if (!isThere) writeFileSync(path, text);
  }
}

if (import.meta.main) main();

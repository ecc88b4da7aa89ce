/** The extensions that must be removable, and what belongs to each beside its folder: the lines that name it and its pages. */

/** Takes out what `cut` finds in `file`, which must be found exactly once. */
interface NamedLine {
  readonly file: string;
  readonly cut: RegExp;
}

export interface RemovableExtension {
  readonly name: string;
  /** Files beside `src/extensions/NAME` and beside every file or folder below `test` that begins with NAME; from the root. */
  readonly files: readonly string[];
  readonly lines: readonly NamedLine[];
  /** File of its requirement rows. A row that another room's test cites is that room's too, and stays. */
  readonly rows: string;
}

export const REMOVABLE: readonly RemovableExtension[] = [
  {
    name: 'curator',
    files: [
      'src/public/curator.ts',
      'docs/guide/curator.md',
      'bench/curator.ts',
      'scripts/install-onnx-engine.ts',
      'test/deep/evidence-gigabyte.test.ts',
      'test/real/semantic.test.ts',
    ],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}curator: .*\n/m },
      { file: 'README.md', cut: /\[the curator\]\(docs\/guide\/curator\.md\) · / },
      { file: 'package.json', cut: /^ {4}"\.\/curator": .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}curator: .*\n/m },
      { file: 'test/pins/entries.test.ts', cut: /^ {2}'\.\/curator': \[\n(?: {4}.*\n)*? {2}\],\n/m },
    ],
    rows: 'test/requirements/curator.ts',
  },
  {
    name: 'rlm',
    files: [
      'src/public/rlm.ts',
      'docs/guide/recursion.md',
      'docs/images/rlm-run.png',
      'bench/trace-guard.ts',
      'bench/rlm-ask-memory.ts',
      'bench/rlm',
      'examples/check-synthesis.ts',
      'examples/rlm-dry-run.sh',
      'examples/rlm-vanilla-baseline.sh',
      'examples/rlm-truncation-comparison.sh',
    ],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}rlm: .*\n/m },
      { file: 'README.md', cut: /\[recursion\]\(docs\/guide\/recursion\.md\) · / },
      { file: 'package.json', cut: /^ {4}"\.\/rlm": .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}'trace-guard': .*\n {2}'rlm-ask-memory': .*\n/m },
      { file: 'bench/run.ts', cut: /^if \(process\.argv\[2\] === 'rlm'\) \{\n(?: {2}.*\n)*?\}\n/m },
      { file: 'test/pins/entries.test.ts', cut: /^ {2}'\.\/rlm': \[\n(?: {4}.*\n)*? {2}\],\n/m },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'check-synthesis\.ts': .*\n/m },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'rlm-dry-run\.sh': [\s\S]*?(?=^\};)/m },
    ],
    rows: 'test/requirements/rlm.ts',
  },
  {
    name: 'hive',
    files: [
      'src/public/peers.ts',
      'docs/guide/peers.md',
      'bench/peers.ts',
      'examples/peers',
      'examples/peers-in-one-process.ts',
      'examples/peers-three-agents.ts',
    ],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}peers: .*\n/m },
      { file: 'README.md', cut: /\[peers\]\(docs\/guide\/peers\.md\) · / },
      { file: 'README.md', cut: /^\| `talaria peers` .*\n/m },
      { file: 'README.md', cut: /^import \{ createPeerHub \}.*\n/m },
      { file: 'package.json', cut: /^ {4}"\.\/peers": .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}peers: .*\n/m },
      { file: 'test/pins/entries.test.ts', cut: /^ {2}'\.\/peers': \[.*\],\n/m },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'peers-in-one-process\.ts': .*\n/m },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'peers-three-agents\.ts': .*\n/m },
    ],
    rows: 'test/requirements/hivemind.ts',
  },
];

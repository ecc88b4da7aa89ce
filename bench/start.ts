/** How long until it is there: `--version` against an empty Node, and the first model request against the floor agent. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchRow, median, spread } from './bench-row.ts';
import { benchHome, root, run, startStub, talaria } from './stub.ts';

export async function benchVersion(runs = 15): Promise<readonly BenchRow[]> {
  const home = benchHome('http://127.0.0.1:9/v1');
  fillHome(home.folder);
  const ratios: number[] = [];
  try {
    await run('sh', [talaria, '--version'], { env: home.env });
    for (let i = 0; i < runs; i++) {
      const ours = await run('sh', [talaria, '--version'], { env: home.env });
      const bare = await run(process.execPath, ['-e', '0']);
      if (ours.code !== 0) throw new Error(`--version exited ${ours.code}: ${ours.err}`);
      ratios.push(ours.ms / bare.ms);
    }
  } finally {
    home.remove();
  }
  const value = median(ratios);
  return [
    {
      metric: '--version',
      value,
      target: '≤ 1.15',
      unit: '× node -e 0',
      ok: value <= 1.15,
      note: `median of ${runs} pairs, ${spread(ratios)}`,
    },
  ];
}

/** What must not slow a start down: skills and a large database. */
function fillHome(folder: string): void {
  for (let i = 0; i < 1_000; i++) {
    const skill = join(folder, 'skills', 'bench', `skill-${i}`);
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, 'SKILL.md'), `---\nname: skill-${i}\ndescription: Number ${i}.\n---\n`);
  }
  writeFileSync(join(folder, 'state.db'), Buffer.alloc(64 * 1024 * 1024));
}

export async function benchFirstRequest(runs = 15): Promise<readonly BenchRow[]> {
  const stub = await startStub({ rounds: 0 });
  const home = benchHome(stub.baseUrl);
  const ratios: number[] = [];
  try {
    await untilFirstRequest(stub, () => run('sh', [talaria, '-p', 'hello'], { env: home.env }));
    for (let i = 0; i < runs; i++) {
      const ours = await untilFirstRequest(stub, () => run('sh', [talaria, '-p', 'hello'], { env: home.env }));
      const floor = await untilFirstRequest(stub, () =>
        run(process.execPath, [join(root, 'bench/floor-agent.mjs'), 'hello'], { env: home.env }),
      );
      ratios.push(ours / floor);
    }
  } finally {
    stub.stop();
    home.remove();
  }
  const value = median(ratios);
  return [
    {
      metric: 'start → first model request',
      value,
      target: '≤ 1.5',
      unit: '× floor agent',
      ok: value <= 1.5,
      note: `median of ${runs} pairs, ${spread(ratios)}`,
    },
  ];
}

async function untilFirstRequest(
  stub: Awaited<ReturnType<typeof startStub>>,
  start: () => ReturnType<typeof run>,
): Promise<number> {
  stub.take();
  const ran = await start();
  const [first] = stub.take();
  if (!first) throw new Error(`no request arrived: exit ${ran.code}, ${ran.err.slice(0, 400)}`);
  return first.arrived - ran.started;
}

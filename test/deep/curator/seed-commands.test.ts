/** The seed's example commands as they stand there (seed 002), typed into a shell with `talaria curator` in front. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { createTempHome } from '#testing/temp-home.ts';
import { COMPILE_CACHE } from '../../scenario/cli-process.ts';
import { readJson } from '../../scenario/curator/read-json.ts';
import { verifies } from '../../verifies.ts';

const MAIN = join(import.meta.dirname, '../../../src/surfaces/cli/main.ts');
const SKILL = '---\nname: gateway\ndescription: Restart the gateway plugin\n---\n\nRestart the gateway plugin.\n';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A person's folder with hermes-agent's skills in it, `talaria` on PATH, and a service manager that only takes notes. */
function openShell(context: TestContext) {
  const home = createTempHome(context);
  mkdirSync(join(home.path, 'bin'));
  const program = (name: string, lines: readonly string[]) =>
    writeFileSync(join(home.path, 'bin', name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  program('talaria', [`exec "${process.execPath}" "${MAIN}" "$@"`]);
  for (const name of ['systemctl', 'launchctl']) program(name, [`echo "${name} $*" >> "$HOME/service-calls"`]);
  home.write('.hermes/skills/gateway/SKILL.md', SKILL);
  const env = { PATH: `${home.path}/bin:/usr/bin:/bin`, HOME: home.path, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const type = (line: string): Promise<Ran> =>
    new Promise((resolve) => {
      execFile('/bin/sh', ['-c', line], { env, cwd: home.path }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
      );
    });
  return { home, type };
}

const found = (home: { readonly path: string }) =>
  readFileSync(join(home.path, '.hermes/skills/gateway/SKILL.md'), 'utf8');

describe("the seed's example commands", () => {
  verifies('curator:cli:seed-examples', 'auto-run plans for another agent’s skills and writes none of them', {
    options: { timeout: 60_000 },
    run: async (context: TestContext) => {
      const { home, type } = openShell(context);
      const flags = '--skills-dir ~/.hermes/skills --format json --apply-low-risk --approve-auto-apply';
      for (const more of ['', ' --semantic-candidates --rerank-candidates']) {
        const ran = await type(`talaria curator auto-run ${flags}${more}`);
        assert.equal(ran.code, 0, ran.err + ran.out);
        assert.equal(readJson(ran.out).mode, 'apply-low-risk');
      }
      assert.equal(found(home), SKILL);
    },
  });

  verifies('curator:cli:seed-examples', 'candidates: words, a plan, and models that are not there', {
    options: { timeout: 60_000 },
    run: async (context: TestContext) => {
      const { type } = openShell(context);
      const line = 'talaria curator candidates --query "gateway plugin restart" --skills-dir ~/.hermes/skills';
      const plan = await type(`${line} --semantic`);
      assert.equal(plan.code, 0, plan.err);
      assert.match(plan.out, /Qwen3-Embedding-0\.6B/);
      const words = await type(`${line} --format json`);
      assert.deepEqual([words.code, readJson(words.out).mode], [0, 'lexical']);
      assert.match(words.out, /"skill_name": "gateway"/);
      for (const flags of ['--execute-semantic', '--execute-semantic --rerank']) {
        const ran = await type(`${line} ${flags} --format json`);
        assert.equal(readJson(ran.out).mode, 'semantic-unavailable', ran.out);
        assert.match(ran.err + ran.out, /setup-semantic/);
      }
    },
  });

  verifies('curator:cli:seed-examples', 'bootstrap and the timer, put in and taken out', {
    options: { timeout: 60_000 },
    run: async (context: TestContext) => {
      const { home, type } = openShell(context);
      const lines = [
        'talaria curator bootstrap',
        'talaria curator bootstrap --semantic',
        'talaria curator install-auto --schedule daily --enable',
        'talaria curator install-auto --schedule daily --enable --semantic-candidates --rerank-candidates',
      ];
      for (const line of lines) {
        const ran = await type(line);
        assert.equal(ran.code, 0, `${line}: ${ran.err}${ran.out}`);
      }
      const units = join(home.path, '.config/systemd/user');
      if (process.platform === 'linux') {
        const names = readdirSync(units).sort();
        assert.deepEqual(names, ['talaria-curator-auto.service', 'talaria-curator-auto.timer']);
        const service = readFileSync(join(units, 'talaria-curator-auto.service'), 'utf8');
        assert.match(service, /--semantic-candidates --rerank-candidates/);
        assert.match(home.read('service-calls'), /--user enable --now talaria-curator-auto\.timer/);
      }
      const gone = await type('talaria curator uninstall-auto');
      assert.equal(gone.code, 0, gone.err);
      assert.equal(existsSync(units) ? readdirSync(units).length : 0, 0);
    },
  });
});

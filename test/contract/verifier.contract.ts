/** What every Verifier keeps: it says yes or no with a word, ends by itself, may be asked again, and leaves the skill as it is. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { hashSkillFolder } from '#mind/skills/door/skill-tree.ts';
import type { Verifier, VerifierRequest } from '#mind/skills/skill.ts';

export interface VerifierHarness {
  /** Passes a skill whose text says `good`. */
  readonly verifier: Verifier;
  readonly close?: () => void;
}

/** A skill folder on disk that says `word`, and the request that a door would make for it. */
export function verifierSample(word: string): { readonly request: VerifierRequest; remove(): void } {
  const home = mkdtempSync(join(tmpdir(), 'talaria-verifier-'));
  const path = join(home, 'csv');
  const text = (body: string) => `---\nname: csv\ndescription: d\n---\n${body}\n`;
  mkdirSync(join(path, 'references'), { recursive: true });
  mkdirSync(join(home, 'backup'));
  writeFileSync(join(path, 'SKILL.md'), text(word));
  writeFileSync(join(path, 'references/a.md'), 'a');
  writeFileSync(join(home, 'backup/SKILL.md'), text('before'));
  writeFileSync(join(home, 'backup/manifest.json'), '{}');
  const request: VerifierRequest = {
    path,
    before: text('before'),
    after: text(word),
    backupPath: join(home, 'backup/SKILL.md'),
    manifestPath: join(home, 'backup/manifest.json'),
    originalHash: sha256(text('before')),
    newHash: sha256(text(word)),
  };
  return { request: Object.freeze(request), remove: () => rmSync(home, { recursive: true, force: true }) };
}

export function verifierContract(name: string, make: () => VerifierHarness): void {
  const using = async (word: string, use: (verifier: Verifier, request: VerifierRequest) => Promise<void>) => {
    const { verifier, close } = make();
    const { request, remove } = verifierSample(word);
    try {
      await use(verifier, request);
    } finally {
      remove();
      close?.();
    }
  };

  describe(`verifier contract: ${name}`, () => {
    it('has a name that a manifest can keep', () =>
      using('good', async (verifier) => assert.match(verifier.name, /^[a-z][a-z-]*$/)));

    it('passes with exit code 0 or none, and fails with another and a word why', () =>
      using('good', async (verifier, request) => {
        const yes = await verifier.verify(request);
        assert.deepEqual([yes.passed, yes.exitCode ?? 0], [true, 0], yes.detail);
        const bad = verifierSample('bad');
        const no = await verifier.verify(bad.request).finally(bad.remove);
        assert.equal(no.passed, false);
        assert.notEqual(no.exitCode ?? 1, 0);
        assert.notEqual(no.detail, '');
      }));

    it('says the same when it is asked again, and when it is asked twice at once', () =>
      using('good', async (verifier, request) => {
        const first = await verifier.verify(request);
        const more = await Promise.all([verifier.verify(request), verifier.verify(request)]);
        for (const again of more) assert.deepEqual(again, first);
      }));

    it('leaves the skill, its backup and the request as they are', () =>
      using('bad', async (verifier, request) => {
        const home = join(request.path, '..');
        const before = [hashSkillFolder(home), JSON.stringify(request)];
        await verifier.verify(request);
        assert.deepEqual([hashSkillFolder(home), JSON.stringify(request)], before);
      }));

    it('has a word on a skill that has gone meanwhile', () =>
      using('good', async (verifier, request) => {
        rmSync(request.path, { recursive: true });
        const gone = await verifier.verify({ ...request, after: null, newHash: null });
        assert.equal(gone.passed, false);
      }));
  });
}

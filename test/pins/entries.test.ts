/** What others build on: the entries of the package and what they export. Changing this list is a decision. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe } from 'node:test';
import { verifies } from '../verifies.ts';

const ENTRIES = {
  '.': ['TalariaError', 'absentAsker', 'defineCommand', 'defineTool', 'denyingApprover', 'ok', 'openTalaria', 'refuse'],
  './tool-calls': ['collectTextCalls', 'createTextCallParser', 'parseTextCalls', 'parseTextToolCalls'],
  './sessions': ['openSessions'],
  './skills': ['parseSkill', 'scanSkill', 'validateSkill'],
  './curator': [
    'attributeSkill',
    'buildManagedBlock',
    'chooseVariant',
    'classifyCandidate',
    'classifySource',
    'compactPreview',
    'isErrorLike',
    'lexicalCandidates',
    'parseSkillHeader',
    'planAutoRun',
    'spliceManagedBlock',
    'structuralCheck',
  ],
  './rlm': [
    'buildManifest',
    'extractJson',
    'recallPriors',
    'repairMissingHandles',
    'scoreCompletion',
    'validateMemoryRecord',
    'validateParentSynthesis',
  ],
  './peers': ['PeerError', 'createHivemindProvider', 'createPeerHub', 'createSparkEngine'],
  './testing': [
    'MemoryChannel',
    'createFaults',
    'createManualClock',
    'createScriptedJudge',
    'createScriptedModel',
    'createTempHome',
    'failEachOperation',
    'startFakeHomeserver',
    'startFakeTelegram',
    'startScriptedServer',
  ],
} as const;

describe('public entries', () => {
  verifies('core:entry:pinned', 'package.json exports exactly these entries', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    assert.deepEqual(Object.keys(manifest.exports), [...Object.keys(ENTRIES), './package.json']);
  });

  verifies(
    ['core:entry:pinned', 'core:entry:talaria', 'core:entry:sessions'],
    'every entry exports exactly these names',
    async () => {
      for (const [entry, names] of Object.entries(ENTRIES)) {
        const exported = await import(entry === '.' ? 'talaria' : `talaria/${entry.slice(2)}`);
        assert.deepEqual(Object.keys(exported).sort(), [...names], entry);
      }
    },
  );
});

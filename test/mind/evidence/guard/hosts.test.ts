// What a host is by its name alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HostKind, hostKind, siteLabel } from '#mind/evidence/guard/text/hosts.ts';

const KINDS: Readonly<Record<string, HostKind>> = {
  'github.com': 'known',
  'raw.githubusercontent.com': 'known',
  'sh.rustup.rs': 'known',
  'notgithub.com': 'unknown',
  'github.com.update.live': 'odd',
  localhost: 'local',
  '127.0.0.1:8080': 'local',
  '10.1.2.3': 'local',
  '203.0.113.9': 'address',
  '203.0.113.9:8080': 'address',
  '3405803785': 'address',
  'webhook.site': 'collector',
  'a.b.ngrok-free.app': 'tunnel',
  'gist.githubusercontent.com': 'paste',
  'bit.ly': 'shortener',
  'api.telegram.org': 'chat',
  'x.vercel.app': 'free',
  'evil.com': 'odd',
  'setup.click': 'odd',
  'api.example.com': 'example',
  'collect.example.net': 'unknown',
  'user@203.0.113.9': 'address',
};

test('hosts are told apart by name', () => {
  for (const [host, kind] of Object.entries(KINDS)) assert.deepEqual([host, hostKind(host)], [host, kind]);
});

test('a site is known by the label before its ending', () => {
  assert.equal(siteLabel('docs.parallel.ai'), 'parallel');
  assert.equal(siteLabel('www.bbc.co.uk'), 'bbc');
  assert.equal(siteLabel('localhost'), 'localhost');
});

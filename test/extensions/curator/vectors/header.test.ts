/** Headers, sources, words and the structural stage as the original has them (notes 6, 8.3, 9, 11.3), in the corners. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { classifySource, parseSkillHeader, type SourceQuestion } from '#extensions/curator/block/skill-source.ts';
import { structuralCheck } from '#extensions/curator/block/structural-check.ts';
import { lexicalCandidates } from '#extensions/curator/skill-search.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/skill-text.ts';
import { verifies } from '../../../verifies.ts';

const upstream = { compat: 'upstream' } as const;

describe("the original's header", () => {
  verifies('curator:source:pinned-forms', 'stands at the first byte, between whole lines', () => {
    const name = (text: string) => parseSkillHeader(text, upstream)?.name ?? null;
    const cases: readonly (readonly [text: string, name: string | null])[] = [
      ['---\nname: a\n---\n', 'a'],
      ['---\nname: a\n---\nbody\n---\n', 'a'],
      ['---  \nname: a\n--- \n', 'a'],
      ['---\r\nname: a\r\n---\r\n', 'a'],
      ['---\nname: a\n---', null],
      ['---\nname: a\n', null],
      [' ---\nname: a\n---\n', null],
      ['\ufeff---\nname: a\n---\n', null],
      ['----\nname: a\n---\n', null],
      ["---\nname: 'a b'\n---\n", 'a b'],
      ['---\nname: "a"\n---\n', 'a'],
      ['---\nname:   a  \n---\n', 'a'],
      ['---\nname:\n---\n', null],
      ['---\nname: ""\n---\n', null],
      ['---\n  name: a\n---\n', null],
      ['---\nx: 1\nname: b\nname: c\n---\n', 'b'],
      ['---\nname: é😀\n---\n', 'é😀'],
    ];
    for (const [text, expected] of cases) assert.equal(name(text), expected, JSON.stringify(text));
  });

  verifies('curator:source:pinned-forms', 'is pinned by a bare true, yes or 1 at the first column', () => {
    const pinned = (line: string) => parseSkillHeader(`---\nname: a\n${line}\n---\n`, upstream)?.pinned;
    for (const line of ['pinned: true', 'pin: YES', 'pin:1', 'pinned:  True  ']) assert.equal(pinned(line), true, line);
    for (const line of ['pinned: on', 'pinned: "true"', ' pinned: true', 'pinned: true # x', 'pins: true', 'pin: 10'])
      assert.equal(pinned(line), false, line);
    assert.equal(parseSkillHeader('---\nname: a\n---\npinned: true\n', upstream)?.pinned, false);
  });
});

describe("the original's source", () => {
  const at = (change: Partial<SourceQuestion>) =>
    classifySource({ path: '/h/skills/a/SKILL.md', name: 'a', home: '/h', ...change }, upstream);

  verifies('curator:source:order', 'the first test that fits decides', () => {
    const every = { externalDirs: ['/h/skills/a'], bundled: ['a'], hub: { installed: { a: {} } } };
    assert.equal(at(every), 'external-dir');
    assert.equal(at({ ...every, externalDirs: [] }), 'bundled');
    assert.equal(at({ hub: every.hub }), 'hub-installed');
    assert.equal(at({}), 'local-agent-created');
    assert.equal(at({ path: '/h/skills', name: 'skills' }), 'unknown');
    assert.equal(at({ home: '/g' }), 'unknown');
  });

  verifies('curator:source:order', 'manifests are read line by line, names before the first colon', () => {
    for (const bundled of ['a', 'a:1:2', ' a : x', 'b\r\na\r\n', 'b\u2028a', 'b\u000ba', '\n\na', ['x', 'a:hash']])
      assert.equal(at({ bundled }), 'bundled', JSON.stringify(bundled));
    for (const bundled of ['', 'A', 'ab', ':a', 'b:a', [], null, 7])
      assert.equal(at({ bundled }), 'local-agent-created', JSON.stringify(bundled));
    for (const hub of ['{"installed": {"a": 1}}', { installed: { a: null } }])
      assert.equal(at({ hub }), 'hub-installed');
    for (const hub of ['{"installed": {"b": 1}}', '', '[1', null, { version: 1 }, { installed: {} }])
      assert.equal(at({ hub }), 'local-agent-created', JSON.stringify(hub));
  });

  verifies('curator:source:order', 'external folders are whole folders, relative ones below the home', () => {
    for (const externalDirs of ['skills/a', ['x', '/h/skills/a/'], ['./skills/a']])
      assert.equal(at({ externalDirs }), 'external-dir');
    for (const externalDirs of ['/h/skills', 'skills', '/h/skills/ab', '', [], ['/h/skill']])
      assert.equal(at({ externalDirs }), 'local-agent-created', JSON.stringify(externalDirs));
  });
});

describe("the original's words", () => {
  verifies('curator:candidates:lexical', 'are runs of letters, digits, underscores and hyphens, two at least', () => {
    const words = (query: string) => lexicalCandidates(query, [{ name: 's', text: query }], 1, upstream)[0]?.reasons;
    assert.deepEqual(words('a bb CC dd-ee f_g -- 1 22'), ['--', '22', 'bb', 'cc', 'dd-ee', 'f_g']);
    assert.deepEqual(words('Straße ΑΣ 日本 ①② e\u0301a'), ['straße', 'ας', '①②', '日本']);
    assert.deepEqual(words('aa AA Aa'), ['aa']);
    assert.deepEqual(words('𝔘𝔫 😀😀 \ufeffbom'), ['bom', '𝔘𝔫']);
    assert.deepEqual(words('i9 h8 g7 f6 e5 d4 c3 b2 a1'), ['a1', 'b2', 'c3', 'd4', 'e5', 'f6', 'g7', 'h8']);
  });

  verifies(
    'curator:candidates:lexical',
    'scores are shares of the query, rounded to the even digit, names break ties',
    () => {
      const skills = ['b', '😀', '\uffff', 'a', 'B'].map((name) => ({ name, text: 'xx' }));
      const names = (query: string) => lexicalCandidates(query, skills, 9, upstream).map((one) => one.skill_name);
      assert.deepEqual(names('xx'), ['B', 'a', 'b', '\uffff', '😀']);
      assert.deepEqual(names('yy'), names('xx'));
      const share = (shared: number, all: number) => {
        const query = Array.from({ length: all }, (_, at) => `w${at}`);
        const text = query.slice(0, shared).join(' ');
        return lexicalCandidates(query.join(' '), [{ name: 's', text }], 1, upstream)[0]?.score;
      };
      assert.deepEqual(
        [share(1, 3), share(2, 3), share(1, 32), share(3, 32), share(5, 32), share(1, 7)],
        [0.3333, 0.6667, 0.0312, 0.0938, 0.1562, 0.1429],
      );
    },
  );
});

describe("the original's structural stage", () => {
  verifies('curator:verify:structural', 'counts markers, measures code points and reads the front matter', () => {
    const [s, e] = [START_MARKER, END_MARKER];
    const cases: readonly (readonly [text: string, failures: readonly string[]])[] = [
      ['', []],
      [`${s}${e}${e}`, ['unbalanced-managed-block-markers:1!=2']],
      [`${e}${s}${e}`, ['unbalanced-managed-block-markers:1!=2', 'managed-block-end-before-start']],
      [`${s}${s}${e}`, ['unbalanced-managed-block-markers:2!=1', 'duplicate-managed-block:2']],
      [`${s}${s}`, ['unbalanced-managed-block-markers:2!=0', 'duplicate-managed-block:2']],
      [`${e}${e}`, ['unbalanced-managed-block-markers:0!=2']],
      [`${'😀'.repeat(100_001)}`, ['over-hard-cap:100001>100000']],
      ['---\nname: a\n---', []],
      ['---\n# only a comment\n---\n', []],
      ['---\ntext\n---\n', ['frontmatter-not-mapping']],
      ['---\n5\n---\n', ['frontmatter-not-mapping']],
      ['---', ['frontmatter-not-parseable']],
      ['---x\n', ['frontmatter-not-parseable']],
      [' ---\nnot read', []],
      ['---\na: 1\n\tb: 2\n---\n', ['frontmatter-not-parseable:ScannerError']],
      ['---\na: "x\n---\n', ['frontmatter-not-parseable:ScannerError']],
      ['---\na: {b\n---\n', ['frontmatter-not-parseable:ParserError']],
    ];
    for (const [text, failures] of cases)
      assert.deepEqual(structuralCheck(text, upstream).failures, failures, text.slice(0, 40));
  });
});

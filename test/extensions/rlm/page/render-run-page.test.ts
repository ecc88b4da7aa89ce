import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { RunOutcome } from '#extensions/rlm/outcome.ts';
import { renderRunPage } from '#extensions/rlm/page/render-run-page.ts';
import type { RunRecord } from '#extensions/rlm/trace/run-record.ts';
import type { JsonObject } from '#public/talaria.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { pageShape, pageTags, pageText } from './page-tags.ts';
import { sampleAsk, sampleAskOutcome } from './sample-ask.ts';
import {
  FACTS,
  RUN_ID,
  sampleCall,
  sampleChunk,
  sampleEvent,
  sampleFact,
  sampleNode,
  samplePage,
} from './sample-run.ts';

const ALLOWED = new Set(
  '!doctype html head meta title style body div main header section nav p q h1 h2 h3 ul ol li dl dt dd a strong span code pre bdi br mark blockquote details summary table thead tbody tr th td'.split(
    ' ',
  ),
);

/** Every text of a run that somebody else than the controller wrote. */
function hostileRun(text: string): RunRecord {
  const chunk = sampleChunk('docs/rules.md', [1, 3], `before\nquote ${text.replaceAll('\n', ' ')} here\nafter\n`);
  const quote = `quote ${text.replaceAll('\n', ' ')} here`;
  const fact = { ...sampleFact(`f-${text}`, chunk, quote), fact_id: `f-${text}` };
  const outcome: Partial<RunOutcome> = {
    question: text,
    detail: text,
    summary: `s ${text}`,
    claims: [{ text, fact_ids: [`f-${text}`, `unknown ${text}`] }],
    refused: [
      {
        reason: 'unsupported_fact_id',
        claim: { fact_id: text, chunk_id: text, surface: text, text: `t${text}` },
        detail: text,
      },
    ],
    refused_facts: [{ call_id: `x${text}`, text, reason: `r${text}` }],
    evidence: [fact],
    gaps: [{ what: text, why: text }],
    omitted: [{ chunk_id: text, reason: 'max_chunks' }],
    boundaries: [{ source_path: text, last_retained_line: 1, omitted_line_count: 2 }],
  };
  const failed = { type: 'timeout', detail: text } as const;
  const calls = [
    sampleCall(text, { prompt: text, completion: text, model: text, system_prompt: text, selected_chunk_ids: [text] }),
    sampleCall(`b${text}`, { completion: null, adapter_error: failed }),
  ];
  const page = samplePage({ outcome, chunks: [chunk], calls, events: [sampleEvent(1, 'rlm.run.started', { text })] });
  return { ...page, row: { ...page.row, sources: [{ path: text, bytes: 1, hash: text }] } };
}

const ATTACKS = [
  '</script><script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</style><style>*{display:none}</style>',
  '</title><base href=//evil.example>',
  '&lt;b&gt; &amp;amp; &#60;i&#62;',
  '<!-- --> <![CDATA[ ]]> <?php ?>',
  'javascript:alert(1)',
  '\u202Edlrow olleh\u202C \u2066hidden\u2069',
  '\u0000\u0007\u001b[31m\r\u2028\u2029',
  '\ud800 lone \udc00',
  'e1',
  '__proto__',
  '${7*7} {{7*7}} `x`',
  'a\nb\n\nc',
];

describe('the page of a run', () => {
  test('no text of a run makes a tag, an attribute or an entity', () => {
    const plain = pageShape(renderRunPage(hostileRun('plain')));
    for (const attack of ATTACKS) assert.equal(pageShape(renderRunPage(hostileRun(attack))), plain, attack);
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).filter((one) => one.trim() !== '');
    const pieces = fc.array(fc.oneof(text, fc.constantFrom(...ATTACKS)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(pieces, (parts) => {
        const page = renderRunPage(hostileRun(parts.join('').replace(/\s/gu, ' ')));
        for (const { name, attributes } of pageTags(page)) {
          assert.ok(ALLOWED.has(name.replace('/', '')), name);
          for (const [key, value] of attributes) {
            assert.doesNotMatch(key, /^on|^style$|^src/);
            if (key === 'href') assert.match(value, /^#[a-z]+-?\d*$/);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('the same holds for an ask', () => {
    const hostile = (text: string) => {
      const place = { source_path: text, start_line: 1, end_line: 1, start_byte: 0, end_byte: 1 };
      const base = sampleAskOutcome();
      return sampleAsk({
        question: text,
        sentences: base.sentences.map((sentence) => ({
          ...sentence,
          text,
          why: sentence.why && text,
          model: sentence.model && text,
        })),
        handles: base.handles.map((handle) => {
          if (handle.kind === 'span') return { ...handle, place, quote: `${text} The owner is the north office.` };
          return handle.kind === 'computed' ? { ...handle, code: text, output: text } : handle;
        }),
      });
    };
    const plain = pageShape(renderRunPage(hostile('plain')));
    for (const attack of ATTACKS.filter((one) => !one.includes('\n')))
      assert.equal(pageShape(renderRunPage(hostile(attack))), plain, attack);
  });

  test('what is not seen is written out, and what reads from right to left stays', () => {
    const text = pageText(renderRunPage(samplePage({ outcome: { summary: 'a\u202Eb\u0000c\u200Bd مرحبا 👩‍🚀' } })));
    assert.match(text, /a\[U\+202E\]b␀c\[U\+200B\]d مرحبا 👩‍🚀/);
  });

  test('the file asks for nothing, and its policy allows its one style alone', () => {
    const page = renderRunPage(samplePage());
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    assert.ok(
      page.includes(`content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`),
    );
    assert.equal(page.match(/<style/g)?.length, 1);
    assert.doesNotMatch(page, /<script|@import|url\(|https?:|\sstyle=/);
  });

  verifies('rlm:ask:cited', 'each claim shows its handles, and each handle leads to the words it stands for', () => {
    const page = renderRunPage(samplePage());
    const [, claim = ''] = /<li id="claim-2">([\s\S]*?)<\/li>/.exec(page) ?? [];
    assert.match(pageText(claim), /Line 40 says that rule 40 holds\.\s*f002\.01 docs\/rules\.md:40/);
    const target = /href="#(e\d+)"/.exec(claim)?.[1] ?? '';
    const [, entry = ''] = new RegExp(`<li id="${target}">([\\s\\S]*?)</li>`).exec(page) ?? [];
    assert.match(entry, /<mark>Line 40 says that rule 40 holds\.<\/mark>\nLine 41/, 'between the lines beside it');
    assert.match(pageText(entry), /f002\.01 docs\/rules\.md:40\s*· by call 2 · cited by 2/);
  });

  test('a quotation over two lines is lit whole, between lines that are shown as they are', () => {
    const page = renderRunPage(samplePage());
    assert.match(page, /Line 20 says that <mark>rule 20 holds\.\nLine 21 says<\/mark> that rule 21 holds\.\nLine 22/);
    assert.match(page, /· not used/);
  });

  test('of two equal quotations the one at its place is lit, also behind letters of several bytes', () => {
    const chunk = sampleChunk('a', [1, 1], 'é same ü same 👩 same\n');
    const fact = sampleFact('f1', chunk, 'same 👩');
    assert.ok(fact.place);
    const second = { ...fact, text: 'same' };
    const page = (some: typeof fact) => renderRunPage(samplePage({ chunks: [chunk], outcome: { evidence: [some] } }));
    assert.match(page(second), /é same ü <mark>same<\/mark> 👩 same/);
    const elsewhere = { ...second, place: { ...fact.place, start_byte: 5_000, end_byte: 5_004 } };
    assert.match(page(elsewhere), /é <mark>same<\/mark> ü same/);
  });

  test('every anchor is there once and every link leads somewhere', () => {
    for (const page of [renderRunPage(samplePage()), renderRunPage(sampleAsk()), renderRunPage(hostileRun('x'))]) {
      const attributes = pageTags(page).flatMap((tag) => tag.attributes);
      const ids = attributes.filter(([key]) => key === 'id').map(([, value]) => value);
      assert.equal(new Set(ids).size, ids.length, 'an anchor stands twice');
      const links = attributes.filter(([key]) => key === 'href').map(([, value]) => value.slice(1));
      assert.deepEqual(
        [...new Set(links)].filter((link) => !ids.includes(link)),
        [],
      );
    }
  });

  test('a chunk whose text is gone, or does not hold the words, lights up nothing and still has its row', () => {
    for (const textOf of [() => undefined, () => 'nothing of that\n']) {
      const page = renderRunPage({ ...samplePage(), textOf });
      assert.match(page, /<li id="e1">/);
      assert.doesNotMatch(page, /<mark/);
    }
  });

  verifies('rlm:run:refused-parent', 'a refused synthesis shows code, words and detail, and claims nothing', () => {
    const page = renderRunPage(hostileRun('plain'));
    const refusal = {
      reason: 'unsupported_fact_id',
      claim: { fact_id: 'f9', chunk_id: null, surface: 'result', text: 'No.' },
      detail: 'f9 is unknown.',
    } as const;
    const refused = pageText(
      renderRunPage(samplePage({ outcome: { verdict: 'refused', claims: [], refused: [refusal] } })),
    );
    assert.match(refused, /Refused\. The synthesis did not pass the gate; none of its claims counts\./);
    assert.match(refused, /unsupported_fact_id no call of this run reported such a fact\s*No\.\s*f9 is unknown\./);
    assert.match(refused, /No claim was accepted\./);
    assert.match(pageText(page), /rplain/, 'a reason without words of its own is shown as it is');
  });

  test('cited is said, verified is not', () => {
    for (const page of [renderRunPage(samplePage()), renderRunPage(sampleAsk())]) {
      assert.match(pageText(page), /cited/);
      assert.doesNotMatch(pageText(page), /verified|proven/i);
    }
  });

  test('repair in words', () => {
    const repair = {
      failure_reason: null,
      initial_accept: false,
      repair_attempted: true,
      repair_accept: true,
      repair_strategy: 'patch_missing_evidence_handle_fields',
      initial_rejection_reasons: ['missing_evidence_handle'],
      before_after_diff: [
        { path: 'result.retained_facts[1].evidence_chunk_id', before: 'null', after: 'docs/rules.md:1-30' },
      ],
    } as unknown as RunOutcome['repair'];
    const text = pageText(renderRunPage(samplePage({ outcome: { repair } })));
    assert.match(text, /left out where 1 quotation stood[\s\S]*With it the gate accepted the synthesis\./);
    assert.match(text, /result\.retained_facts\[1\]\.evidence_chunk_id\s*null\s*docs\/rules\.md:1-30/);
  });

  test('what nobody told is unknown, never zero', () => {
    const totals = { calls: 3, input_tokens: null, output_tokens: null, cost: null };
    const text = pageText(renderRunPage(samplePage({ outcome: { totals } })));
    assert.match(text, /Tokens\s*unknown\s*Cost\s*unknown/);
  });

  test('each node shows its state, and what went in and came out of its calls', () => {
    const page = renderRunPage(samplePage());
    const [, tree = ''] = page.split('id="tree"');
    assert.match(
      pageText(tree),
      /synthesis complete root · put the findings together[\s\S]*atomic complete read a chunk docs\/rules\.md:1-30/,
    );
    assert.equal(tree.match(/<summary>Input /g)?.length, 3);
    assert.equal(tree.match(/<summary>Output /g)?.length, 3);
  });

  test('a node that works on a part of the question says which', () => {
    const sub_questions = [{ ac_node_id: 'ac_node_docs/rules.md:31-60', question: 'Which rules come late?' }];
    const text = pageText(renderRunPage(samplePage({ outcome: { sub_questions } })));
    assert.match(text, /read a chunk docs\/rules\.md:31-60 Which rules come late\?/);
  });

  test('sentences of an ask in their order, each with its grade, what code computed as a table', () => {
    const text = pageText(renderRunPage(sampleAsk()));
    assert.match(text, /The port is 4711\.\s*quoted notes\.txt:12 s1 notes\.txt:12-14/);
    assert.match(text, /One line names a key\.\s*computed k1 computed\s*value\s*1/);
    assert.match(text, /The north office owns it\.\s*supported read by m\/n: The lines say so\. c1/);
    assert.match(text, /It was changed in 1999\.\s*not supported: it cites nothing/);
    assert.match(text, /Shown to a model\s*70 bytes of 120 KB \(0\.1\u00a0%\)/);
    const page = renderRunPage(sampleAsk());
    assert.match(page, /4711\.\n<mark>The owner is the north office\.<\/mark>/, 'a claim is lit within its span');
    assert.match(page, /compute\(\[s1\]/, 'the code of a computed handle is shown');
  });

  test('steps of an ask: code, output, what was cut, the handles that were made', () => {
    const [, steps = ''] = renderRunPage(sampleAsk()).split('<section id="steps"');
    const text = pageText(steps.split('</section>')[0] ?? '');
    assert.match(text, /Step 1 by call 1\s*print\(context\.find\("port"\)\)\s*Printed 3 characters\s*300/);
    assert.match(text, /12 more characters of output were not shown to the model\.\s*Made s1 notes\.txt:12-14 s9/);
  });

  test('equal input, equal page', () => {
    assert.equal(renderRunPage(samplePage()), renderRunPage(samplePage()));
  });

  test('a run that has not ended, and an outcome that nobody knows, are drawn as far as it goes', () => {
    const input = samplePage();
    const running = {
      ...input,
      row: { ...input.row, state: 'running' as const, outcome: null, ended_at: null, state_hash: null },
    };
    assert.match(pageText(renderRunPage(running)), /Not ended\.[\s\S]*Calls\s*3/);
    const strange = { ...input, row: { ...input.row, outcome: { schema_version: 'talaria.rlm.run.v9', x: '<b>' } } };
    assert.match(pageText(renderRunPage(strange)), /As it is stored[\s\S]*talaria\.rlm\.run\.v9/);
    const vanilla = { ...strange, row: { ...strange.row, kind: 'vanilla' as const } };
    assert.match(pageText(renderRunPage(vanilla)), /Answered\. A single pass without recursion: nobody has checked/);
    const cut = { ...input.row.outcome, evidence: [null] } as unknown as JsonObject;
    assert.match(pageText(renderRunPage({ ...input, row: { ...input.row, outcome: cut } })), /As it is stored/);
  });

  test('a tree with a loop and with children that are not there ends', () => {
    const nodes = {
      a: sampleNode('a', { children_ids: ['b', 'gone', 'a'] }),
      b: sampleNode('b', { parent_id: 'a', children_ids: ['a'] }),
    };
    const base = samplePage().row.outcome as unknown as RunOutcome;
    const page = renderRunPage(samplePage({ outcome: { tree: { ...base.tree, root_id: 'a', nodes } } }));
    assert.equal(page.match(/class="node /g)?.length, 2);
    assert.match(pageText(page), /Calls of no node/);
  });
});

describe('the page of a large run', () => {
  const mega = 'x'.repeat(1_000_000);

  test('a line of 1 MB shows the quoted words and says what is left out', () => {
    const chunk = sampleChunk('big.txt', [1, 1], `${mega}needle in it${mega}\n`);
    const fact = sampleFact('f1', chunk, 'needle in it');
    const page = renderRunPage(
      samplePage({ chunks: [chunk], outcome: { evidence: [fact], claims: [{ text: mega, fact_ids: ['f1'] }] } }),
    );
    assert.match(page, /x{400}<mark>needle in it<\/mark>x{400}</);
    assert.match(pageText(page), /… 998,000 more characters are not shown here/);
    assert.ok(page.length < 100_000, String(page.length));
  });

  slow('a thousand calls with long texts stay below 12 MB, and the page names the command that shows the rest', () => {
    const calls = Array.from({ length: 1_000 }, (_, at) =>
      sampleCall(`call_${at}`, { prompt: 'p'.repeat(50_000), completion: 'c'.repeat(50_000) }),
    );
    const events = Array.from({ length: 3_000 }, (_, at) => sampleEvent(at + 1, 'rlm.node.scheduled', { at }));
    const page = renderRunPage(samplePage({ calls, events }));
    assert.ok(page.length < 12_000_000, String(page.length));
    const text = pageText(page);
    assert.match(text, /600 more calls not shown here/);
    assert.match(text, /2,400 more events not shown here/);
    assert.match(text, new RegExp(`talaria rlm show ${RUN_ID} --export run\\.json`));
    assert.match(text, /30,000 more characters are not shown here/);
  });

  test('more quotations than are looked up keep their number', () => {
    const evidence = Array.from({ length: 800 }, (_, at) => ({
      ...(FACTS[0] as (typeof FACTS)[0]),
      fact_id: `f${at}`,
    }));
    const page = renderRunPage(
      samplePage({ outcome: { evidence, claims: [{ text: 'a', fact_ids: ['f0', 'f799'] }] } }),
    );
    assert.match(pageText(page), /300 more quotations not shown here/);
    assert.match(page, /<span class="handle unknown"><bdi>f799<\/bdi>/, 'no link that leads nowhere');
  });
});

import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe } from 'node:test';
import { parseSkill, validateSkill } from 'talaria/skills';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../verifies.ts';

describe('the entry talaria/skills', () => {
  verifies('core:skills:portable', 'reads a SKILL.md and judges its folder', (t) => {
    const home = createTempHome(t);
    const text = '---\nname: csv-import\ndescription: Imports CSV files.\n---\n# CSV\n';
    const parsed = parseSkill(text);
    assert.deepEqual(parsed, {
      ok: true,
      frontmatter: { name: 'csv-import', description: 'Imports CSV files.' },
      body: '# CSV\n',
    });
    assert.deepEqual(validateSkill(dirname(home.write('csv-import/SKILL.md', text))), { valid: true, findings: [] });
    const { valid, findings } = validateSkill(dirname(home.write('other/SKILL.md', text)));
    assert.deepEqual([valid, findings.map(({ rule, field }) => [rule, field])], [false, [['name-folder', 'name']]]);
    const refused = parseSkill('no front matter');
    assert.deepEqual([refused.ok, refused.ok ? '' : refused.reason], [false, 'no-front-matter']);
  });
});

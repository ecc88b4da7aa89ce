/** The pages over loopback HTTP, without a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveCommands } from '#surfaces/api/commands.ts';
import { dashboardCommands } from '#surfaces/web/commands.ts';
import { verifies } from '../../verifies.ts';
import { KEY, runOf, startServe } from '../api/serve-stage.ts';
import { groundOf, openConversation, play } from '../app/app-fixture.ts';
import { asHost, page, startSite, startVisit, until } from './web-stage.ts';

const PATHS = ['', 'sessions', 'skills', 'memory', 'pending', 'schedule', 'people', 'costs', 'doctor'];
const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'&amp;';

verifies.slow(
  ['R5.140', 'R5.142'],
  'each page answers, has one h1 and named landmarks, and needs no script',
  async (t) => {
    const site = await startSite(t, [{ reply: 'Noted.' }]);
    const talk = await openConversation(site.app);
    await play(talk, 'remember the port 8642');
    await talk.leave();
    for (const path of [
      ...PATHS.map((one) => `/${one}`),
      `/sessions/${talk.session.id}`,
      '/sessions?q=port',
      '/costs?days=30',
    ]) {
      const answer = await site.get(path);
      const text = await answer.text();
      assert.equal(answer.status, 200, path);
      assert.equal(text.match(/<h1/g)?.length, 1, path);
      assert.match(text, /<nav aria-label="Pages">/);
      assert.equal(text.match(/<script/g)?.length, 1, path);
      assert.doesNotMatch(text, /undefined|\[object/, path);
      assert.ok(text.length < 100_000, path);
    }
    assert.match(await site.text('/sessions'), /remember the port/);
    assert.match(await site.text('/sessions?q=port'), /<mark>port<\/mark>/);
    for (const none of ['nobody', '%zz', '%f0%28', '%00', '..%2f..%2fetc', `${'9'.repeat(5_000)}`, "'%20OR%201=1"])
      for (const kind of ['sessions', 'skills'])
        assert.equal((await site.get(`/${kind}/${none}`)).status, 404, `${kind} ${none.slice(0, 20)}`);
    assert.equal((await site.get('/sessions/nobody/export')).status, 404);
    assert.equal((await site.get('/sessions/nobody/more')).status, 404);
    const script = await (await site.get('/app.js')).text();
    assert.ok(script.length <= 8_192, `${script.length} bytes of script`);
    assert.doesNotMatch(script, /https?:/);
  },
);

verifies(['R5.141'], 'a key becomes a cookie, and nothing is shown, taken or framed without it', async (t) => {
  const { url, get, post, cookie, app } = await startSite(t);
  const plain = (path: string, init?: RequestInit) => fetch(url + path, { redirect: 'manual', ...init });
  const entered = await plain(`/?key=${KEY}`);
  assert.equal(entered.status, 303);
  assert.equal(entered.headers.get('location'), '/');
  assert.match(entered.headers.get('set-cookie') ?? '', /Max-Age=43200.*HttpOnly.*SameSite=Strict/);
  assert.notEqual((entered.headers.get('set-cookie') ?? '').split(';')[0], cookie);
  for (const path of [...PATHS.map((one) => `/${one}`), '/?key=wrong', '/sessions/x/export', '/pictures/x.png'])
    assert.equal((await plain(path)).headers.get('location'), '/login', path);
  assert.equal((await plain('/live')).status, 401);
  const form = (key: string) => ({ method: 'POST', body: new URLSearchParams({ key }), headers: { origin: url } });
  assert.equal((await plain('/login', form('wrong'))).status, 403);
  assert.equal((await plain('/login', form(KEY))).status, 303);

  const { headers } = await get('/');
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('x-frame-options'), 'DENY');

  const sent = { act: 'send', session: '', text: 'hello' };
  assert.equal((await post('/', { ...sent, token: 'forged' })).status, 403, 'a forged token');
  assert.equal((await post('/', sent, { origin: 'http://evil.example' })).status, 403, 'a form of another page');
  assert.equal((await app.doors.sessions.list()).length, 0);
  assert.equal((await post('/', { act: 'constructor' })).status, 303);
  assert.match(await (await get('/')).text(), /There is no such form/);
  const other = await (await startVisit(url)).text('/');
  const token = /name="token" value="(\w+)"/.exec(other)?.[1] ?? '';
  assert.equal((await post('/', { ...sent, token })).status, 403, 'the token of another visit');
  assert.equal((await app.doors.sessions.list()).length, 0);
  for (const path of [...PATHS, 'login', 'app.js', `?key=${KEY}`, 'sessions/x/export', 'live'])
    assert.equal(await asHost(`${url}/${path}`, 'evil.example'), 403, path);
  assert.equal(await asHost(`${url}/login`, new URL(url).host), 200);
});

verifies(['R5.142'], 'hostile titles, words, folders and files stay text', async (t) => {
  const site = await startSite(t, [{ reply: HOSTILE }]);
  const talk = await openConversation(site.app);
  await play(talk, HOSTILE);
  await site.app.doors.sessions.setTitle(talk.session.id, HOSTILE);
  await talk.leave();
  for (const path of ['/', '/sessions', `/sessions/${talk.session.id}`, `/sessions?q=${encodeURIComponent(HOSTILE)}`]) {
    const text = await site.text(path);
    assert.doesNotMatch(text, /<script>|<img src=x/, path);
    assert.match(text, /&lt;script&gt;/, path);
  }
  const file = await site.get(`/sessions/${talk.session.id}/export`);
  assert.match(file.headers.get('content-disposition') ?? '', /^attachment/);
  assert.match(file.headers.get('content-type') ?? '', /^text\/plain/);
});

verifies.slow(
  ['R5.144'],
  'a page begins a session, is asked for a yes, steers, stops, forks and exports',
  async (t) => {
    const run = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf build' } }] };
    const site = await startSite(t, [run, { reply: 'It is gone.' }, run, { reply: 'Left as it was.' }, run]);
    const begun = await site.post('/', { act: 'send', session: '', text: 'clean up' });
    const path = (begun.headers.get('location') ?? '').replace('#end', '');
    assert.match(path, /^\/sessions\/\w+$/);
    const asked = () => until(async () => /name="id" value="(\w+)"/.exec(await site.text(path))?.[1]);
    const first = await asked();
    assert.match(await site.text('/'), /rm -rf build/);
    await site.post(path, { act: 'answer', id: first, answer: 'once' });
    await until(async () => (await site.text(path)).includes('It is gone.'));
    await until(async () => (await site.text(path)).includes('at rest'));

    await site.post(path, { act: 'send', session: path.slice(10), text: 'again' });
    await site.post(path, { act: 'answer', id: await asked(), answer: 'denied on the page' });
    await until(async () => (await site.text(path)).includes('Left as it was.'));
    await until(async () => (await site.text(path)).includes('at rest'));
    assert.match(await site.text(path), /denied on the page/);

    await site.post(path, { act: 'send', session: path.slice(10), text: 'once more' });
    await asked();
    await site.post(path, { act: 'stop', session: path.slice(10) });
    await until(async () => (await site.text(path)).includes('at rest'));
    const gone = await site.post(path, { act: 'answer', id: first, answer: 'once' });
    assert.equal(gone.headers.get('location'), path);
    assert.match(await site.text(path), /It waits no longer/);

    const forked = await site.post(path, { act: 'fork', session: path.slice(10) });
    const fork = forked.headers.get('location') ?? '';
    assert.notEqual(fork, path);
    assert.match(await site.text(fork), /It is gone\./);
    assert.match(await site.text(`${path}/export?format=jsonl`), /^\{.*clean up/s);
  },
);

verifies(['R5.144'], 'a form about what is not there says so and does nothing', async (t) => {
  const site = await startSite(t);
  for (const fields of [
    { act: 'send', session: 'nobody', text: 'hello' },
    { act: 'send', session: '', text: '  ' },
    { act: 'fork', session: 'nobody' },
    { act: 'stop', session: 'nobody' },
    { act: 'answer', id: 'none', answer: 'once' },
    { act: 'pending accept', id: 'none' },
    { act: 'cron pause', job: 'none' },
    { act: 'gateway pair', code: 'NONE' },
    { act: 'forget', session: 'all' },
  ]) {
    assert.equal((await site.post('/', fields as Record<string, string>)).headers.get('location'), '/');
    assert.match(await site.text('/'), /role="status">\S/, fields.act);
  }
  assert.equal((await site.app.doors.sessions.list()).length, 0);
});

verifies.slow(['R5.143'], 'what happens is told live, and what was missed is told after a cut', async (t) => {
  const site = await startSite(t, [{ reply: 'One two three.' }, { reply: 'Four.' }]);
  const talk = await openConversation(site.app);
  const cut = new AbortController();
  const path = `/live?session=${talk.session.id}`;
  const stream = await site.get(path, { signal: cut.signal });
  assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
  const heard = read(stream);
  await play(talk, 'count');
  const text = await until(async () => /event: changed[\s\S]*event: fresh/.test(heard()) && heard());
  assert.match(text, /event: text\ndata: \{"text":"One /);
  cut.abort();
  const last = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  await play(talk, 'go on');
  const after = read(await site.get(path, { headers: { 'last-event-id': last } }));
  const missed = await until(async () => after().includes('Four.') && after());
  assert.doesNotMatch(missed, /One/);
  const unknown = read(await site.get(path, { headers: { 'last-event-id': 'other-7' } }));
  await until(async () => unknown().includes('event: changed'));
  await talk.leave();
});

function read(response: Response): () => string {
  let text = '';
  const all = async () => {
    for await (const piece of response.body ?? []) text += Buffer.from(piece).toString();
  };
  all().catch(() => undefined);
  return () => text;
}

verifies.slow(['R5.143'], 'another program that writes into the home is seen', async (t) => {
  const site = await startSite(t);
  const talk = await openConversation(site.app);
  await talk.leave();
  const heard = read(await site.get(`/live?session=${talk.session.id}`));
  await until(async () => heard().includes('retry'));
  const { DatabaseSync } = await import('node:sqlite');
  const other = new DatabaseSync(site.app.home.stateDatabase);
  other.prepare('UPDATE sessions SET title = ? WHERE id = ?').run('From elsewhere', talk.session.id);
  other.close();
  await until(async () => heard().includes('event: changed'));
});

verifies(['R5.145'], 'costs are bars with a title, and a table beside them', async (t) => {
  const site = await startSite(t, [{ reply: 'Yes.' }]);
  const talk = await openConversation(site.app);
  await play(talk, 'hello');
  await talk.leave();
  const text = await site.text('/costs');
  assert.match(text, /<svg[^>]* role="img" aria-label="(?:Cost|Tokens) a day[^>]*><title>/);
  assert.match(text, /<g><title>\d{4}-\d\d-\d\d: .*learning/);
  assert.match(text, /<th scope="col">purpose<\/th>/);
});

verifies(['R5.144'], 'a turn that fails says why on its page', async (t) => {
  const site = await startSite(t, [{ status: 400, body: { error: { message: 'no such model' } } }]);
  const begun = await site.post('/', { act: 'send', session: '', text: 'hello' });
  const path = (begun.headers.get('location') ?? '').replace('#end', '');
  await until(async () => (await site.text(path)).includes('no such model'));
});

verifies.slow(['R5.147'], 'no page grows with the home', async (t) => {
  const site = await startSite(t);
  const { sessions, state } = site.app.doors;
  const { id } = await sessions.create({ source: 'cli', cwd: '/', title: 'The long one' });
  const body = JSON.stringify({ parts: [{ type: 'text', text: '<&>'.repeat(3_000), origin: 'owner' }] });
  const numbers = (most: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most})`;
  state.run(`INSERT INTO sessions(id, source, title, cwd, started_at, last_active_at, message_count)
    ${numbers(10_000)} SELECT 's' || i, 'cli', 'Session <' || i || '>', '/', i, i, 3 FROM n`);
  state.run(
    `INSERT INTO messages(session, seq, role, at, body, text, place) ${numbers(100_000)}
     SELECT (SELECT key FROM sessions WHERE id = ?), i, 'user', i, CASE WHEN i < 99900 THEN '{"parts":[]}' ELSE ? END, '',
     CASE i WHEN 99990 THEN 7 END FROM n`,
    ...[id, body],
  );
  state.run(`INSERT INTO usage(session, at, turn, purpose, model, input_tokens, output_tokens, cached_tokens,
    cache_write_tokens, reasoning_tokens, cost) ${numbers(20_000)}
    SELECT 1, ${site.app.clock.now()} - i * 60000, 1, 'answer', 'model-' || (i % 30), 10, 10, 0, 0, 0, 0.01 FROM n`);
  for (const path of [...PATHS.map((one) => `/${one}`), `/sessions/${id}`, '/sessions?skip=9000', '/costs?days=30']) {
    const bytes = Buffer.byteLength(await site.text(path));
    assert.ok(bytes <= 100_000, `${path} has ${bytes} bytes`);
  }
  assert.match(await site.text(`/sessions/${id}`), /skip=\d+">Older/);
  const placed = state.get<{ id: number }>('SELECT id FROM messages WHERE place = 7')?.id;
  const shown = async (skip: string) =>
    [...(await site.text(`/sessions/${id}?skip=${skip}`)).matchAll(/class="message user" id="m(\d+)"/g)].map((one) =>
      Number(one[1]),
    );
  assert.ok(!(await shown('0')).includes(placed ?? 0));
  const oldest = await shown('99985');
  assert.deepEqual(
    [oldest.length, oldest[6], oldest[7]],
    [15, (oldest[0] ?? 0) + 6, placed],
    'one that was put in later',
  );
  assert.deepEqual(await shown('1e9'), []);
  assert.deepEqual([await shown('-5'), await shown('NaN')], [await shown('0'), await shown('0')]);
  assert.match(await site.text('/sessions'), /skip=50">Older/);
});

verifies(['R5.140'], 'talaria dashboard prints the address with the key, or says what to start', async (t) => {
  const { url, stage, app } = await startSite(t);
  const lend = async () => serveCommands({ ...seat, version: '', parts: async () => [] });
  const seat = { ground: groundOf(t, { environment: stage.environment }), app: async () => app };
  const [command] = dashboardCommands(lend)(seat);
  assert.ok(command);
  const said = async (port: string) => (await runOf(command, { port }).next()).value;
  const { port } = new URL(url);
  const [there, gone] = [await said(port), await said('1')];
  const address = there?.type === 'line' ? there.text : '';
  assert.equal(address, `http://127.0.0.1:${port}/?key=${KEY}`);
  assert.equal((await fetch(address, { redirect: 'manual' })).headers.get('location'), '/');
  assert.equal(gone?.type === 'failure' && gone.code, 'not-served');
});

test('without serve.dashboard nothing is served', async (t) => {
  const { url } = await startServe(t, [], { parts: [page], config: 'serve:\n  dashboard: false\n' });
  assert.equal((await fetch(`${url}/login`)).status, 401);
});

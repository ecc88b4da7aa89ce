// Owns the pages over HTTP: who may see them, what a form may do, pictures, and the stream of changes. Knows no page's content.
// Invariants: nothing but the login, the style and the script is given without a session's cookie; the key stands in no address that is kept;
// a form without its visitor's token does nothing; no page runs a script or shows a picture of another host, or stands in a frame.
import { timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { secureHeaders } from 'hono/secure-headers';
import { streamSSE } from 'hono/streaming';
import { openBlobs } from '#base/blobs.ts';
import { errorText } from '#base/errors.ts';
import { randomHex, sha256 } from '#base/ids.ts';
import { html } from '#base/text/page.ts';
import type { PageDesk } from './desk.ts';
import { framed, loginPage } from './frame.ts';
import { SCRIPT, STYLE } from './page-script.rules.ts';
import { pageAt } from './pages.ts';

const [COOKIE, VISIT_S] = ['talaria', 12 * 3_600];
const [NONE, OWN] = [["'none'"], ["'self'"]];
const HEADERS = secureHeaders({
  contentSecurityPolicy: {
    ...{ defaultSrc: NONE, scriptSrc: OWN, styleSrc: OWN, connectSrc: OWN, imgSrc: ["'self'", 'data:'] },
    ...{ formAction: OWN, baseUri: NONE, frameAncestors: NONE },
  },
  // A form's Origin is `null` under the stricter one, and it is the way back.
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  strictTransportSecurity: false,
});

export function pageServer(desk: PageDesk, key: string): (request: Request) => Promise<Response> {
  const { enter, of } = visitorsOf(desk, key);
  const hono = new Hono();
  hono.use(HEADERS, csrf());
  hono.onError((error, c) => (error instanceof HTTPException ? error.getResponse() : c.text(errorText(error), 500)));
  hono.get('/app.js', (c) => c.body(SCRIPT, 200, { 'content-type': 'text/javascript; charset=utf-8' }));
  hono.get('/style.css', (c) => c.body(STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }));
  hono.get('/login', (c) => c.html(loginPage('')));
  hono.post('/login', async (c) => {
    const { key: given = '' } = await c.req.parseBody();
    return enter(c, String(given)) ? c.redirect('/', 303) : c.html(loginPage('This is not the key.'), 403);
  });
  hono.use(async (c, next) => {
    const { key: given } = c.req.query();
    if (c.req.path === '/' && given !== undefined) return c.redirect(enter(c, given) ? '/' : '/login', 303);
    if (of(c)) return next();
    return c.req.method === 'GET' && c.req.path !== '/live' ? c.redirect('/login', 303) : c.text('Log in first.', 401);
  });
  hono.post('/act', async (c) => {
    const given = Object.entries(await c.req.parseBody()).map(([name, value]) => [name, String(value)]);
    const fields: Fields = Object.fromEntries(given);
    const visitor = of(c);
    if (!visitor || !isSame(fields.token ?? '', visitor.token))
      return c.text('This form is of another visit: load the page again.', 403);
    const { said = '', to } = await actOf(fields)(desk, fields);
    visitor.flash = said;
    const { pathname, search } = new URL(c.req.header('referer') ?? '/', c.req.url);
    return c.redirect(to ?? pathname.replace(/^\/+/, '/') + search, 303);
  });
  hono.get('/live', (c) => live(c, desk));
  hono.get('/pictures/:name', (c) => picture(c, desk));
  hono.get('/sessions/:id/export', (c) => exported(c, desk));
  hono.get('*', async (c) => {
    const { pathname: path, searchParams: query } = new URL(c.req.url);
    const visitor = of(c);
    const { token = '', flash: said = '' } = visitor ?? {};
    const isPart = c.req.header('x-part') !== undefined;
    const visit = { desk, path, query, token, flash: isPart ? '' : said };
    if (visitor && !isPart) visitor.flash = '';
    const page = await pageAt(visit);
    const none = { title: 'There is nothing at this address', live: html`` };
    return c.html(framed(page ?? none, visit), page ? 200 : 404, { 'cache-control': 'no-store' });
  });
  return async (request) => hono.fetch(request);
}

/** Hashes are of one length, so that the time tells nothing of what is meant. */
function isSame(given: string, meant: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(meant)));
}

/** Who has a cookie, until the program ends. */
function visitorsOf({ app: { clock } }: PageDesk, key: string) {
  const all = new Map<string, { readonly token: string; readonly until: number; flash: string }>();
  /** False: it is not the key. */
  const enter = (c: Context, given: string) => {
    if (!isSame(given, key)) return false;
    const [cookie, now] = [randomHex(32), clock.now()];
    for (const [id, { until }] of all) if (until < now) all.delete(id);
    all.set(sha256(cookie), { token: randomHex(16), until: now + VISIT_S * 1_000, flash: '' });
    setCookie(c, COOKIE, cookie, { httpOnly: true, sameSite: 'Strict', path: '/', maxAge: VISIT_S });
    return true;
  };
  const of = (c: Context) => {
    const found = all.get(sha256(getCookie(c, COOKIE) ?? ''));
    return found && found.until > clock.now() ? found : undefined;
  };
  return { enter, of };
}

type Fields = Readonly<Record<string, string>>;
type Act = (desk: PageDesk, fields: Fields) => Promise<{ readonly said?: string; readonly to?: string }>;

const sessionPage = (id: string) => `/sessions/${encodeURIComponent(id)}`;

const ACTS: Readonly<Record<string, Act>> = {
  send: async (desk, { session = '', text = '' }) => {
    const said = text.trim();
    if (said === '') return { said: 'Nothing was written.' };
    const sent = await desk.send(session === '' ? undefined : session, said);
    return sent.ok ? { to: `${sessionPage(sent.value)}#end` } : { said: sent.detail };
  },
  stop: async (desk, { session = '' }) => ({ said: desk.stop(session) ? 'It stops.' : 'No page began a turn here.' }),
  answer: async (desk, { id = '', answer = '' }) => ({ said: desk.answer(id, answer) ? '' : 'It waits no longer.' }),
  fork: async (desk, { session = '' }) => {
    const { value, failure } = await desk.command('sessions fork', { session });
    return value ? { to: sessionPage((value as { id: string }).id) } : { said: failure?.message ?? '' };
  },
  // It may take longer than a page.
  'cron run': async (desk, { job = '' }) => {
    desk.app.background('page: cron run', desk.command('cron run', { job }));
    return { said: 'It runs; what comes of it will stand below.' };
  },
};
const actOf = ({ act = '' }: Fields) => (Object.hasOwn(ACTS, act) ? ACTS[act] : undefined) ?? command;
const COMMANDS = new Set(['pending accept', 'pending reject', 'cron pause', 'cron resume', 'gateway pair']);

/** What a command does with these fields. */
async function command(desk: PageDesk, { act = '', token: _, ...input }: Fields): ReturnType<Act> {
  if (!COMMANDS.has(act)) return { said: 'There is no such form.' };
  const { lines, failure } = await desk.command(act, input);
  return { said: [...lines, failure?.message, failure?.fix].filter(Boolean).join('\n') };
}

function live(c: Context, desk: PageDesk): Response {
  const [session, last] = [c.req.query('session'), c.req.header('last-event-id') ?? ''];
  return streamSSE(c, async (out) => {
    const left = new AbortController();
    out.onAbort(() => left.abort());
    await out.write('retry: 2000\n\n');
    for await (const { type: event, id, data } of desk.live(session, last, left.signal))
      await out.writeSSE({ event, id, data: JSON.stringify(data) });
  });
}

const KINDS = ['png', 'jpeg', 'gif', 'webp'];

function picture(c: Context, desk: PageDesk): Response {
  const [hash = '', kind = ''] = (c.req.param('name') ?? '').split('.');
  const bytes = KINDS.includes(kind) ? openBlobs(desk.app.home.blobs).read(hash) : undefined;
  if (!bytes) return c.text('There is no such picture.', 404);
  const headers = { 'content-type': `image/${kind}`, 'cache-control': 'private, max-age=86400' };
  return c.body(new Uint8Array(bytes), 200, headers);
}

async function exported(c: Context, desk: PageDesk): Promise<Response> {
  const [session, format] = [c.req.param('id') ?? '', c.req.query('format') === 'jsonl' ? 'jsonl' : 'markdown'];
  const { lines, failure } = await desk.command('sessions export', { session, format });
  if (failure) return c.text(failure.message, 404);
  const name = `${session.replace(/[^\w-]/g, '_')}.${format === 'jsonl' ? 'jsonl' : 'md'}`;
  const headers = { 'content-disposition': `attachment; filename="${name}"` };
  return c.text(`${lines.join('\n')}\n`, 200, headers);
}

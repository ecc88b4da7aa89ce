/** What can be typed after a slash: the session's own commands, groups alone, help that fits a screen. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { CommandOutput } from '#public/talaria.ts';
import type { ServerStep } from '#public/testing.ts';
import type { App } from '#surfaces/app/app.ts';
import { type ChatOptions, ChatSession } from '#surfaces/cli/chat/chat-session.ts';
import { createCompletions } from '#surfaces/cli/chat/completions.ts';
import { INIT_PROMPT } from '#surfaces/cli/chat/slash-commands.ts';
import { failureLines, outputLines } from '#surfaces/cli/render-output.ts';
import { slow } from '../../../slow.ts';
import { createStage, runCommand } from '../../app/app-fixture.ts';
import { openServed } from '../cli-fixture.ts';

const WIDTH = 80;

interface Chat {
  readonly chat: ChatSession;
  /** Lines that commands gave the surface. */
  readonly submitted: string[];
  /** What is typed and what comes of it, laid out for a narrow terminal. */
  say(line: string): Promise<string>;
}

async function openChat(t: TestContext, app: App, options: Partial<ChatOptions> = {}): Promise<Chat> {
  const submitted: string[] = [];
  const seats = { approver: denyingApprover, asker: absentAsker, continueLast: false };
  const chat = new ChatSession({ app, ...seats, submit: (line) => submitted.push(line), ...options });
  assert.equal(await chat.open(), undefined);
  t.after(() => chat.close());
  const say = async (line: string) =>
    (await (line.startsWith('/') ? ranLines(chat, line) : endOf(chat, line))).join('\n');
  return { chat, submitted, say };
}

async function ranLines(chat: ChatSession, line: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const output of chat.slash(line)) lines.push(...shown(output));
  return lines;
}

async function endOf(chat: ChatSession, line: string): Promise<readonly string[]> {
  const ends: string[] = [];
  for await (const event of chat.send(line)) if (event.type === 'turn-end') ends.push(event.outcome, event.text);
  return ends;
}

function shown(output: CommandOutput): readonly string[] {
  if (output.type === 'failure') return [`${output.code} ${output.exitCode}`, ...failureLines(output)];
  return output.type === 'data' ? [] : outputLines(output, WIDTH);
}

async function served(t: TestContext, steps: readonly ServerStep[], options: Partial<ChatOptions> = {}) {
  const { app, server, stage } = await openServed(t, steps);
  return { app, server, stage, ...(await openChat(t, app, options)) };
}

async function withoutModel(t: TestContext, options: Partial<ChatOptions> = {}) {
  const stage = createStage(t);
  const app = await stage.open();
  return { app, stage, ...(await openChat(t, app, options)) };
}

const storedTexts = async (app: App, id: string) =>
  JSON.stringify((await app.doors.sessions.messages(id)).map((one) => one.message));

describe('slash commands', () => {
  it('first hour 7: /retry sends the last line again, after an answer and after a failure, in place of the turn before', async (t) => {
    const failing = { status: 400, body: '{"error":{"message":"no such thing"}}' } as const;
    const { say, submitted, server, chat, app } = await served(t, ['Wrong.', failing, 'Right.']);
    assert.match(await say('/retry'), /nothing-said 3/);
    assert.match(await say('what is it'), /^done/);
    assert.match(await say('/retry'), /taken back/);
    assert.deepEqual(submitted, ['what is it']);
    assert.match(await say('what is it'), /^failed/);
    await say('/retry');
    assert.equal(await say('what is it'), 'done\nRight.');
    const last = JSON.stringify(server.requests.at(-1)?.body.messages);
    assert.equal(last.split('what is it').length, 2);
    assert.ok(!last.includes('Wrong.'));
    assert.ok(!(await storedTexts(app, chat.conversation?.session.id ?? '')).includes('Wrong.'));
  });

  it('first hour 7: /status says on one screen what answers, where, how full, what it costs and what is asked', async (t) => {
    const { say, chat } = await served(t, ['One.']);
    await say('first words');
    const status = await say('/status');
    for (const expected of [
      /^model +openai\/m \(T2\): /m,
      /^folder +~\/work$/m,
      new RegExp(`^session +${chat.conversation?.session.id} · first words · 2 messages$`, 'm'),
      /^context +about \d+ of \d+ tokens \(\d+ %\)/m,
      /^cost +\$0, and 1 call whose price is unknown$|^cost +\$/m,
      /^approvals +ask; 0 allowed/m,
      /^walls +none: commands run as you do/m,
      /^memory +0 about the work, 0 about you$/m,
      /^skills +0$/m,
      /^home +~\/home$/m,
    ])
      assert.match(status, expected);
    assert.ok(status.split('\n').length <= 20);
    const total = /^total +~(\d+)/m.exec(await say('/context'))?.[1];
    assert.match(status, new RegExp(`^context +about ${total} of`, 'm'), '/status counts as /context does');
  });

  it('first hour 7: /copy gives the terminal the last answer for its clipboard, and refuses where there is no screen', async (t) => {
    const written: string[] = [];
    const { say } = await served(t, ['Grüße \u{1F30A}, `x`.'], {
      writeTerminal: (text) => void written.push(text),
    });
    assert.match(await say('/copy'), /no-answer 3/);
    await say('greet');
    assert.match(await say('/copy'), /^copied 13 characters/);
    const base64 = Buffer.from('Grüße \u{1F30A}, `x`.').toString('base64');
    assert.deepEqual(written, [`\u001b]52;c;${base64}\u0007`]);
    const lines = await served(t, ['One.']);
    await lines.say('greet');
    assert.match(await lines.say('/copy'), /no-screen 3/);
  });

  slow('first hour 7: /export writes this session to a file, and over one only when told to', async (t) => {
    const { say, stage, chat } = await served(t, ['Lima.']);
    assert.match(await say('/export'), /nothing-said 3/);
    await say('the capital of Peru?');
    const id = chat.conversation?.session.id;
    assert.match(await say('/export'), new RegExp(`talaria-${id}\\.md \\(2 messages\\)`));
    assert.match(readFileSync(join(stage.cwd, `talaria-${id}.md`), 'utf8'), /the capital of Peru\?[\s\S]*Lima\./);
    writeFileSync(join(stage.cwd, 'mine.md'), 'mine');
    assert.match(await say('/export mine.md'), /file-exists 3[\s\S]*--force/);
    assert.equal(readFileSync(join(stage.cwd, 'mine.md'), 'utf8'), 'mine');
    await say('/export mine.md --force --format jsonl');
    assert.match(readFileSync(join(stage.cwd, 'mine.md'), 'utf8'), /^\{"id"/);
    await say('/export ~/elsewhere.md');
    assert.ok(existsSync(join(stage.environment.userHome, 'elsewhere.md')));
  });

  slow('first hour 7: /permissions shows what is allowed and takes it back at once, from the file too', async (t) => {
    const call = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf build' } }] };
    const asked: string[] = [];
    const approver = {
      approve: async ({ key }: { readonly key: string }) => {
        asked.push(key);
        return { decision: 'always' as const };
      },
    };
    const { say, stage, app } = await served(t, [call, 'Gone.', call, 'Gone.', call, 'Gone.'], { approver });
    assert.match(
      await say('/permissions'),
      /asked before anything risky[\s\S]*approvals\.mode is ask[\s\S]*allowed nothing/,
    );
    await say('remove build');
    await say('remove build');
    assert.equal(asked.length, 1);
    const key = asked[0] ?? '';
    // The line is as wide as the screen, the name of the folder is not ours.
    const joined = (text: string) => text.replaceAll(/\s+/g, '');
    assert.ok(joined(await say('/permissions')).includes(joined(key)));
    assert.match(stage.temp.read('home/config.yaml'), /rm -r/);
    await app.approvals().add('sudo ls', 'session');
    assert.match(await say('/permissions'), /^1 +taken back [\s\S]*\n2 +this chat ends +sudo ls$/m);
    assert.match(await say('/permissions revoke 7'), /not-allowed-before 3/);
    assert.match(await say('/permissions revoke 1'), /asked again before/);
    assert.match(await say('/permissions revoke sudo ls'), /asked again before: sudo ls/);
    assert.ok(!/rm -r/.test(stage.temp.read('home/config.yaml')));
    await say('remove build');
    assert.equal(asked.length, 2);
    assert.match((await runCommand(stage, 'permissions show')).text, /rm -r/);
    assert.match((await runCommand(stage, 'permissions revoke', { which: ['1'] })).text, /asked again/);
    assert.match((await runCommand(stage, 'permissions show')).text, /allowed nothing/);
  });

  it('first hour 7: /title shows and sets the title, also before the first line', async (t) => {
    const { say } = await served(t, ['One.', 'Two.']);
    assert.match(await say('/title'), /no title yet/);
    assert.match(await say("/title what I don't forget"), /is now "what I don't forget"/);
    await say('first');
    assert.equal(await say('/title'), "what I don't forget");
    await say('/new');
    await say('the second session');
    assert.equal(await say('/title'), 'the second session');
  });

  it('first hour 7: /clear, /compact and /exit do what /new, /compress and /quit do, and say how to come back', async (t) => {
    const { say, chat } = await served(t, ['One.']);
    await say('first');
    const first = chat.conversation?.session.id;
    assert.match(await say('/compact'), /nothing to compress/);
    assert.match(await say('/clear'), new RegExp(`new session .*/resume ${first}`));
    assert.notEqual(chat.conversation?.session.id, first);
    await say('/exit');
    assert.ok(chat.isLeaving);
  });

  slow('first hour 7: /models, /doctor and the groups alone do their work in the chat', async (t) => {
    const { say } = await withoutModel(t);
    assert.match(await say('/models'), /reflex\/1 \(T0\)/);
    assert.match(await say('/doctor --offline'), /ok +database/);
    assert.match(await say('/skills'), /No skills yet/);
    assert.match(await say('/pending'), /Nothing waits/);
    assert.match(await say('/skills lst'), /unknown command 'lst'; did you mean list\?\n\/skills takes list · show/);
    assert.match(await say('/skills show'), /missing required argument 'name'\n\/skills show --help shows/);
    assert.deepEqual(JSON.parse(await say('/sessions --source nobody --json')), []);
  });

  slow(
    'first hour 7: /help is a list by topic that two small screens hold; /help NAME shows how one is typed',
    async (t) => {
      const { say, chat } = await withoutModel(t);
      const help = (await say('/help')).split('\n');
      assert.ok(help.length <= 48, `${help.length} lines, and 48 fit a screen (CONTRIBUTING, a room)`);
      for (const line of help) assert.ok(line.length <= WIDTH, line);
      const topics = help.slice(1).filter((line) => /^[a-z]/.test(line));
      assert.deepEqual(topics, ['talk', 'model', 'memory and skills', 'files', 'sessions', 'machine']);
      for (const { name } of await chat.commands()) {
        const usage = await say(`/help ${name}`);
        assert.ok(usage.startsWith(`Usage: /${name}`), usage);
        assert.ok(!/Usage: \/ |\$ talaria/.test(usage), usage);
      }
      assert.match(
        await say('/help skills'),
        /^Usage: \/skills \[list \| show .*\n\n\/skills alone is \/skills list\n/,
      );
      assert.match(await say('/help sessions list'), /^Usage: \/sessions list \[--limit <limit>\] .*\[--json\]$/m);
      assert.match(await say('/help clear'), /^Usage: \/new /);
      assert.match(await say('/help skils'), /usage 2\nunknown command 'skils'; did you mean skills\?/);
      assert.match(await say('/help reflex'), /list the files here/);
    },
  );

  it('first hour 7: /init asks a model with the same words as ever; without one it writes the facts, once', async (t) => {
    const { say, submitted } = await served(t, []);
    assert.equal(await say('/init'), '');
    assert.deepEqual(submitted, [INIT_PROMPT]);
    assert.equal(sha256(INIT_PROMPT).slice(0, 16), '2e0d1e8816e52891');
    const answers = ['n', 'y'];
    const plain = await withoutModel(t, { ask: async () => answers.shift() });
    const path = join(plain.stage.cwd, 'AGENTS.md');
    assert.match(await plain.say('/init'), /nothing-found 3/);
    writeFileSync(join(plain.stage.cwd, 'package.json'), '{"scripts":{"test":"node --test"}}');
    writeFileSync(join(plain.stage.cwd, 'Makefile'), 'CC := gcc\nall: x\n\tmake x\n');
    for (const folder of ['src', '.git', 'node_modules']) mkdirSync(join(plain.stage.cwd, folder));
    assert.match(await plain.say('/init'), /npm run test[\s\S]*nothing was written/);
    assert.ok(!existsSync(path));
    await plain.say('/init');
    const lines = ['# work', '', '## Commands', '', '- `npm run test`: node --test', '- `make all`'];
    assert.equal(readFileSync(path, 'utf8'), [...lines, '', '## Folders', '', '- `src/`', ''].join('\n'));
    assert.match(await plain.say('/init'), /file-exists 3/);
  });

  it('first hour 7: what is offered after a slash has the aliases, and never garbles a line that was typed faster', async (t) => {
    const { chat } = await withoutModel(t);
    const offered = await createCompletions(chat);
    const found = await offered.getSuggestions(['/cl'], 0, 3, { signal: new AbortController().signal });
    const [clear] = found?.items ?? [];
    assert.deepEqual([found?.prefix, clear?.value], ['/cl', 'clear']);
    const applied = (line: string) =>
      offered.applyCompletion([line], 0, line.length, clear ?? assert.fail(), '/cl').lines[0];
    assert.deepEqual(['/cl', '/clea', '/clear', '/clock'].map(applied), ['/clear ', '/clear ', '/clear ', '/clock']);
  });
});

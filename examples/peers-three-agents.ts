/**
 * Three agents, three processes, three homes, one server. Alice introduces Bob and Carol; Bob's agent learns of Carol and they write to each
 * other; an introduction of Dave is suggested by rule, dismissed, and stays dismissed after every process was killed. No model has a part in
 * it: reflex/1 answers, by rules. `node examples/peers-three-agents.ts`; with MATRIX_HOMESERVER set on that server, where anybody may register.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeHomeserver } from 'talaria/testing';
import { type Agent, startAgent, talaria } from './peers/processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'talaria-example-'));
const given = process.env.MATRIX_HOMESERVER;
const server = given === undefined ? await startFakeHomeserver() : undefined;
const url = given ?? server?.url ?? '';
const suffix = given === undefined ? '' : `-${Date.now().toString(36)}`;
const name = (person: string) => `hermes-of-${person}${suffix}`;
const home = (person: string) => join(folder, person);
const [bob, carol, dave] = [name('bob'), name('carol'), name('dave')];
const agents = new Map<string, Agent>();
const failures: string[] = [];

function check(what: string, holds: boolean): void {
  console.log(`${holds ? '  ✓' : '  ✗'} ${what}`);
  if (!holds) failures.push(what);
}

async function start(...people: readonly string[]): Promise<void> {
  for (const person of people) agents.set(person, await startAgent(home(person)));
}

/** What the owner types, and what the agent answers by rule. */
async function turn(person: string, line: string): Promise<string> {
  const agent = agents.get(person);
  if (!agent) throw new Error(`${person} has no agent`);
  const { text, asked } = await agent.says(line);
  console.log(`\n${person}› ${line}`);
  for (const preview of asked) console.log(indented(`asks first, and the owner says yes:\n${preview}`));
  console.log(indented(text));
  return text;
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ').replace(/[ \t]+$/gm, '');
}

async function meet(): Promise<void> {
  const password = { MATRIX_PASSWORD: `example-${Math.random().toString(36).slice(2)}` };
  const login = (person: string) =>
    talaria(home(person), ['peers', 'login', url, name(person), '--register', '--json'], password);
  const [at] = await Promise.all(
    ['alice', 'bob', 'carol', 'dave'].map(async (person) => serverOf(await login(person))),
  );
  for (const [id, context] of [
    [bob, 'Bob builds enclaves. He needs a security audit of his enclave.'],
    [carol, 'Carol offers security audits of enclaves and terminals.'],
    [dave, 'Dave is looking for a security audit of his payment terminal.'],
  ] as const) {
    const told = ['--context', context, '--about', 'Alice knows people who build things.'];
    await talaria(home('alice'), ['peers', 'invite', `${id}@${at}`, ...told]);
    console.log(`alice$ talaria peers invite ${id}@${at} --context "${context}" …`);
  }
}

function serverOf(login: string): string {
  const userId: string = JSON.parse(login).user_id;
  return userId.slice(userId.indexOf(':') + 1);
}

async function play(): Promise<void> {
  console.log(`server: ${url}${server ? ` (${server.name})` : ''}; each agent: a process, a home, reflex/1\n`);
  await meet();
  await start('alice', 'bob', 'carol');
  for (const person of ['bob', 'carol']) await turn(person, 'who do I know?');
  await turn('alice', `introduce ${bob} and ${carol}: Carol can audit what Bob builds`);
  const known = await turn('bob', 'who do I know?');
  check("Bob's agent learned of Carol, and why", known.includes(carol) && known.includes('offers security audits'));

  await turn('bob', `tell ${carol}: our enclave is ready for your audit`);
  check('Carol reads what Bob wrote', (await turn('carol', 'any new messages?')).includes('our enclave is ready'));
  await turn('carol', `tell ${bob}: yes, on Tuesday`);
  check('Bob reads the answer', (await turn('bob', 'any new messages?')).includes('yes, on Tuesday'));

  const suggested = await turn('alice', 'who do I know?');
  check(
    'an introduction of Dave is suggested, by rule',
    suggested.includes(`${carol} and ${dave}`) && /by rule/.test(suggested),
  );
  await turn('alice', `dismiss the suggestion of ${carol} and ${dave}`);

  console.log('\nkill -9, every process; then all of them again');
  for (const agent of agents.values()) await agent.kill();
  await start('alice', 'bob', 'carol');
  const again = await turn('alice', 'who do I know?');
  check(
    'Alice still knows everybody',
    [bob, carol, dave].every((peer) => again.includes(peer)),
  );
  check('what was dismissed stays dismissed', !/suggest/i.test(again));
  check('Bob still knows Carol', (await turn('bob', `who is ${carol}?`)).includes('offers security audits'));
  const { suggestions } = JSON.parse(await talaria(home('alice'), ['peers', 'list', '--json']));
  check('talaria peers list says the same', suggestions.length === 0);
}

try {
  await play();
} finally {
  for (const agent of agents.values()) await agent.kill();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures.length === 0 ? '\nEvery step did what it should.' : `\nFailed: ${failures.join('; ')}`);
process.exitCode = failures.length === 0 ? 0 : 1;

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
    [bob, 'Bob builds enclaves. Needs: a security audit of an enclave'],
    [carol, 'Carol. Offers: security audits of enclaves, security audits of payment terminals'],
    [dave, 'Dave runs a shop. Needs: a security audit of the payment terminal'],
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

/** A command of Alice's, as she types it. */
async function alices(...args: readonly string[]): Promise<void> {
  console.log(`\nalice$ talaria ${args.join(' ')}`);
  console.log(indented(await talaria(home('alice'), args)));
}

async function play(): Promise<void> {
  console.log(`server: ${url}${server ? ` (${server.name})` : ''}; each agent: a process, a home, reflex/1\n`);
  await meet();
  await start('alice', 'bob', 'carol');
  for (const person of ['bob', 'carol']) await turn(person, 'list peers');
  await alices('peers', 'introduce', bob, carol, '--reason', 'Carol can audit what Bob builds', '--yes');
  const known = await turn('bob', 'list peers');
  check(
    "Bob's agent learned of Carol, and why",
    known.includes(carol) && known.includes('security audits of enclaves'),
  );

  await turn('bob', `send ${carol} "our enclave is ready for your audit"`);
  check('Carol reads what Bob wrote', (await turn('carol', 'check messages')).includes('our enclave is ready'));
  await turn('carol', `send ${bob} "yes, on Tuesday"`);
  check('Bob reads the answer', (await turn('bob', 'check messages')).includes('yes, on Tuesday'));

  const suggested = await turn('alice', 'list peers');
  check(
    'an introduction of Dave is suggested, by rule',
    suggested.includes(`${carol} and ${dave}`) && /by rule/.test(suggested),
  );
  await alices('peers', 'dismiss', carol, dave);

  console.log('\nkill -9, every process; then all of them again');
  for (const agent of agents.values()) await agent.kill();
  await start('alice', 'bob', 'carol');
  const again = await turn('alice', 'list peers');
  check(
    'Alice still knows everybody',
    [bob, carol, dave].every((peer) => again.includes(peer)),
  );
  check('what was dismissed stays dismissed', !/suggest/i.test(again));
  check('Bob still knows Carol', (await turn('bob', 'list peers')).includes('security audits of enclaves'));
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

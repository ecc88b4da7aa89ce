// Owns the question before a session begins in a folder whose project file the owner has not agreed to. Knows no screen: it is given a way to
// ask, which keeps control characters from the terminal. Invariant: anything but a clear yes leaves the file out, and what was shown is what is agreed to.
import type { App } from '#surfaces/app/app.ts';
import { describeProject, leftOutNotice, lookAtProject, trustProject } from '#surfaces/app/home/trust.ts';

/** Gives what is to be said where it is left out. Without a way to ask it is left out. */
export async function askTrust(
  { home, environment, clock }: Pick<App, 'home' | 'environment' | 'clock'>,
  ask: ((question: string) => Promise<string>) | undefined,
): Promise<string | undefined> {
  const standing = lookAtProject(home, environment.cwd);
  if (standing === undefined || standing.verdict === 'trusted') return undefined;
  if (ask !== undefined) {
    const shown = (await describeProject(standing)).map((text) => `  ${text}`);
    const question = 'Follow it as instructions in this folder, until it changes? (y/n)';
    const answer = await ask(['A project file wants to instruct the agent.', ...shown, question].join('\n'));
    if (/^\s*y(?:es)?\s*$/i.test(answer)) trustProject(home, standing.file, clock);
  }
  return leftOutNotice(home, environment.cwd);
}

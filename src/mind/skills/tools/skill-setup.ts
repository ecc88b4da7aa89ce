// Owns what a skill needs before it can run and what of that is missing: variables, commands, credential files (core notes 2.7).
// Invariant: looks at names and existence only; no value of a variable and no content of a file leaves this file.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { readNeeds } from '../format/read-header.ts';

export interface Surroundings {
  /** Value of an environment variable of the process or of the home's `.env`. */
  readonly environment: (name: string) => string | undefined;
  /** Absolute folder that credential files are named from: the home. */
  readonly credentialFolder: string;
}

/** Fields of the answer of `skill_view` (core notes 2.6). */
export function skillSetup(frontmatter: JsonObject, { environment, credentialFolder }: Surroundings): JsonObject {
  const needs = readNeeds(frontmatter);
  const missingVariables = needs.variables.map(({ name }) => name).filter((name) => !environment(name));
  const missingCommands = needs.commands.filter((name) => !isCommand(name, environment('PATH') ?? ''));
  const missingFiles = needs.credentialFiles.filter((path) => !isThere(credentialFolder, path));
  const isReady = missingVariables.length + missingCommands.length + missingFiles.length === 0;
  return {
    required_environment_variables: needs.variables.map(({ name, prompt, help, requiredFor }) => ({
      name,
      ...(prompt ? { prompt } : {}),
      ...(help ? { help } : {}),
      ...(requiredFor ? { required_for: requiredFor } : {}),
    })),
    required_commands: needs.commands,
    missing_required_environment_variables: missingVariables,
    missing_required_commands: missingCommands,
    missing_credential_files: missingFiles,
    setup_needed: !isReady,
    readiness_status: isReady ? 'available' : 'setup_needed',
  };
}

function isCommand(name: string, path: string): boolean {
  if (!/^[\w.+-]+$/.test(name)) return false;
  return path.split(delimiter).some((folder) => folder !== '' && isExecutable(join(folder, name)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

function isThere(folder: string, path: string): boolean {
  return statSync(isAbsolute(path) ? path : join(folder, path), { throwIfNoEntry: false }) !== undefined;
}

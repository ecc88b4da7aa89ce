// Owns what several of the curator's commands are asked with: texts that must be there, windows in days (clamped later, not refused), forms of
// the result, and how a guarded write is checked (curator notes 5, 11.3, 16). Data only.
import { z } from 'zod';

/** `how`: what to type, e.g. `name it: --skill NAME`. */
export function requiredText(how: string) {
  return z.string(how).min(1, how);
}

export const daysFlag = z.number().default(30).describe('Days to look back, 1 to 3650; 30');

export function daysInput(byDefault: number) {
  return z.coerce.number().default(byDefault).describe(`Days that count, 1 to 3650; default ${byDefault}`);
}

export const formatInput = z.enum(['markdown', 'json']).default('markdown').describe('How the result is printed');

export const verifyFlags = {
  verifyCommand: z.string().min(1).optional().describe('Command that must end with 0, else the write is taken back'),
  verifyCwd: z.string().min(1).optional().describe('Folder that the commands run in'),
  preVerifyCommand: z.string().min(1).optional().describe('Cheaper command that is asked first'),
  stagedVerify: z.boolean().default(false).describe('Check in stages, from cheap to expensive; always so here'),
} as const;

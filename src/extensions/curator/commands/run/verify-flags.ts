// Owns the flags by which a guarded write is checked (curator notes 11.3), the same for `auto-run` and `apply`. Data only.
import { z } from 'zod';

export const verifyFlags = {
  verifyCommand: z.string().min(1).optional().describe('Command that must end with 0, else the write is taken back'),
  verifyCwd: z.string().min(1).optional().describe('Folder that the commands run in'),
  preVerifyCommand: z.string().min(1).optional().describe('Cheaper command that is asked first'),
  stagedVerify: z.boolean().default(false).describe('Check in stages, from cheap to expensive; always so here'),
} as const;

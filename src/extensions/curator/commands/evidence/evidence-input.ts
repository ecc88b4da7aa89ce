// Owns the flags that the evidence commands share. Data only. Days are clamped by the report, not refused (curator notes 5).
import { z } from 'zod';

export function daysInput(byDefault: number) {
  return z.coerce.number().default(byDefault).describe(`Days that count, 1 to 3650; default ${byDefault}`);
}

export const formatInput = z.enum(['markdown', 'json']).default('markdown').describe('How the result is printed');

// Owns `--days` of the commands that read a window of evidence (curator notes 5, 16): out of range is clamped, not refused.
import { z } from 'zod';

export const daysFlag = z.number().default(30).describe('Days to look back, 1 to 3650; 30');

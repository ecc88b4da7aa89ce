// Owns what this machine can carry: cores, memory, and the size of a local model that fits. Knows no engine.
import { arch, availableParallelism, platform, totalmem } from 'node:os';

export interface Hardware {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly arch: string;
}

const GIB = 1024 ** 3;

export function readHardware(): Hardware {
  return { cores: availableParallelism(), memoryBytes: totalmem(), platform: platform(), arch: arch() };
}

export function hardwareLine({ cores, memoryBytes, platform: system, arch: machine }: Hardware): string {
  return `${cores} cores, ${(memoryBytes / GIB).toFixed(1)} GB memory, ${system} ${machine}`;
}

/** A local model of 4-bit weights that leaves most of the memory to everything else. */
export function localModelAdvice({ memoryBytes }: Hardware): string {
  const gib = memoryBytes / GIB;
  if (gib < 4) return 'a model of up to 1 billion parameters, e.g. Qwen3 0.6B (Q4, about 0.5 GB)';
  if (gib < 12) return 'a model of up to 4 billion parameters, e.g. Qwen3 4B (Q4, about 2.5 GB)';
  if (gib < 28) return 'a model of up to 8 billion parameters, e.g. Qwen3 8B (Q4, about 5 GB)';
  return 'a model of 14 to 32 billion parameters, e.g. Qwen3 14B (Q4, about 9 GB)';
}

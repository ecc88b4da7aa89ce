// Owns the list of extensions that Talaria starts with: one line each. Removing one is deleting its folder and its line.
import type { Extension } from '#core/agent/extension-host.ts';

export const EXTENSIONS: readonly Extension[] = [];

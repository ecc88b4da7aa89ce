// Owns the names of core and workflow skills that unattended writing leaves alone (seed 002, name guard; curator notes 8.4). Data only.

export const CORE_PATTERNS: readonly string[] = [
  'hermes-agent',
  'hermes-*',
  'gsd-*',
  'github-*',
  'mcp-*',
  'native-mcp',
  'claude-code',
  'codex',
  'opencode',
  'subagent-*',
  'systematic-debugging',
  'test-driven-development',
  'debugging-hermes-*',
  'requesting-code-review',
];

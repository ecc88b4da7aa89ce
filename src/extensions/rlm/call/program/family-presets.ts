// Owns the three families of the seed's portability matrix as data: command line, model, and the variable that names another model
// (notes 10.2). Knows no way to start them. Offered only where their program is on the PATH; a family of the same name in config.yaml wins.
import type { ProgramCommand } from './process-input.ts';

export interface FamilyPreset extends Omit<ProgramCommand, 'command'> {
  readonly family: string;
  readonly program: string;
  readonly model: string;
  /** Variable that names another model. */
  readonly override: string;
  /** Arguments for a model. Each is started so that it has nothing to act with: an empty folder, no tools or a read-only sandbox. */
  readonly args: (model: string) => readonly string[];
  readonly framed: boolean;
}

export const FAMILY_PRESETS: readonly FamilyPreset[] = [
  {
    family: 'hermes_glm',
    program: 'hermes',
    model: 'glm-4.7',
    override: 'RLM_FORGE_HERMES_GLM_MODEL',
    args: (model) => ['chat', '-Q', '--source', 'tool', '--model', model, '-q', '{prompt}'],
    env: ['HERMES_HOME', 'GLM_API_KEY', 'ZAI_API_KEY', 'OPENROUTER_API_KEY'],
    input: 'prompt',
    framed: true,
  },
  {
    family: 'claude_code_opus47',
    program: 'claude',
    model: 'opus',
    override: 'RLM_FORGE_CLAUDE_MODEL',
    args: (model) => ['-p', '--model', model, '--output-format', 'text', '--tools', '', '--system-prompt', '{system}'],
    env: ['CLAUDE_CONFIG_DIR', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
    input: 'prompt',
    framed: false,
  },
  {
    family: 'codex_gpt55',
    program: 'codex',
    model: 'gpt-5.5',
    override: 'RLM_FORGE_CODEX_MODEL',
    args: (model) => ['exec', '--skip-git-repo-check', '--sandbox', 'read-only', '--model', model, '-'],
    env: ['CODEX_HOME', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
    input: 'prompt',
    framed: false,
  },
];

export function presetModel(
  { model, override }: FamilyPreset,
  variables: Readonly<Record<string, string | undefined>>,
) {
  const other = variables[override]?.trim() ?? '';
  return other === '' ? model : other;
}

// Owns a first look at the front matter of a text that is to be a skill, without a YAML reader. Pure.
// Invariant: it refuses what is wrong however YAML reads it; what is in doubt passes, for judge-skill to say.
import { type Refusal, refuse } from '#base/result.ts';
import { skillLimits } from '../../format/skill-limits.ts';
import { splitHeader } from '../../format/split-header.ts';

export function quickHeaderRefusal(text: string, name: string, action: 'create' | 'edit'): Refusal | undefined {
  const split = splitHeader(text);
  if (!split.ok) return refuse('invalid-skill', `SKILL.md cannot be read. ${split.detail}`);
  const { header } = split.value;
  const written = plain(header, 'name');
  if (written !== undefined && written !== name)
    return refuse('invalid-skill', `The front matter names ${JSON.stringify(written.slice(0, 80))}, not ${name}.`);
  const size = [...(plain(header, 'description') ?? '')].length;
  const most = action === 'create' ? skillLimits.ownDescription : skillLimits.description;
  return size <= most
    ? undefined
    : refuse('description-too-long', `The description has ${size} characters; it has at most ${most}.`);
}

/** A value on one line, without quotes, signs or comment: it reads as it is written. */
function plain(header: string, key: string): string | undefined {
  const found = header.split('\n').filter((line) => line.startsWith(`${key}:`));
  const [only = ''] = found;
  const value = only.slice(key.length + 1).trim();
  return found.length === 1 && /^[A-Za-z][^#"'\\]*$/.test(value) ? value : undefined;
}

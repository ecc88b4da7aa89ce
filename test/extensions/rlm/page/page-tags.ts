// What a page is made of, read the plain way: since every `<` of a text is escaped, what stands between `<` and `>` is a tag.

export interface PageTag {
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

const TAG = /<(\/?)([a-z][a-z0-9]*|!doctype)((?:\s+[a-z-]+(?:="[^"<>]*")?|\s+html)*)>/g;

/** Throws when something begins like a tag and is none. */
export function pageTags(page: string): readonly PageTag[] {
  const text = page.replace(/<style>[\s\S]*?<\/style>/, '<style></style>');
  const left = text.replace(TAG, '');
  const stray = /[<>]/.exec(left);
  if (stray) throw new Error(`no tag: ${left.slice(Math.max(0, stray.index - 60), stray.index + 60)}`);
  return [...text.matchAll(TAG)].map(([, slash = '', name = '', rest = '']) => ({
    name: `${slash}${name}`,
    attributes: [...rest.matchAll(/\s+([a-z-]+)(?:="([^"]*)")?/g)].map(
      ([, key = '', value = '']) => [key, value] as const,
    ),
  }));
}

/** The tags without the values of attributes that tell of a text. */
export function pageShape(page: string): string {
  return pageTags(page)
    .map(({ name, attributes }) => `${name}[${attributes.map(([key]) => key).join(' ')}]`)
    .join('\n');
}

/** The text that a reader sees, tags and entities read. */
export function pageText(page: string): string {
  const body = page.replace(/<style>[\s\S]*?<\/style>/, '').replace(/<[^>]*>/g, '');
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return body.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name] ?? '');
}

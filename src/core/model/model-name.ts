// Owns how model ids are compared: endpoints spell the same model in many ways. Pure.

/** Lower case, without provider and owner path, quantisation folder or `:tag`: `openrouter/Qwen/Qwen3-8B:free` → `qwen3-8b`. */
export function bareModelName(modelId: string): string {
  const last = modelId.slice(modelId.lastIndexOf('/') + 1).toLowerCase();
  const colon = last.indexOf(':');
  if (colon <= 0) return last;
  // Ollama's tag carries the size, which tells models of a family apart; `:free`, `:latest` and the like do not.
  const tag = last.slice(colon + 1);
  return /\d/.test(tag) ? `${last.slice(0, colon)}-${tag}` : last.slice(0, colon);
}

/** Does a key of the configuration mean this model? Exact id, id without provider, bare name, or a pattern with `*`. */
export function namesModel(key: string, modelId: string): boolean {
  const wanted = key.toLowerCase();
  const full = modelId.toLowerCase();
  const forms = [full, full.slice(full.indexOf('/') + 1), bareModelName(modelId)];
  if (!wanted.includes('*')) return forms.includes(wanted);
  const pieces = wanted.split('*');
  return forms.some((form) => matchesPieces(form, pieces));
}

function matchesPieces(text: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

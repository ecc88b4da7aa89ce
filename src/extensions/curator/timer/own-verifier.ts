// Owns the shell command that checks a written skill when the owner named none: our own `curator skill-validate`. Pure.

/** `program`: what starts Talaria. One line for `/bin/sh -c`. */
export function ownVerifier(program: readonly string[]): string {
  return [...program, 'curator', 'skill-validate'].map(shellWord).join(' ');
}

function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

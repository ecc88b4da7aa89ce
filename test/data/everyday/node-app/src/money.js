// Money is kept as an integer number of cents everywhere in this program.

export function toCents(text) {
  const match = /^(-?)(\d+)(?:[.,](\d{1,2}))?$/.exec(String(text).trim());
  if (!match) throw new TypeError(`not an amount: ${text}`);
  const [, sign, whole, part = ''] = match;
  const cents = Number(whole) * 100 + Number(part.padEnd(2, '0'));
  return sign ? -cents : cents;
}

export function fromCents(cents) {
  if (!Number.isInteger(cents)) throw new TypeError(`not whole cents: ${cents}`);
  const abs = Math.abs(cents);
  const text = `${Math.floor(abs / 100)}.${String(abs % 100).padStart(2, '0')}`;
  return cents < 0 ? `-${text}` : text;
}

export function sum(list) {
  return list.reduce((total, cents) => total + cents, 0);
}

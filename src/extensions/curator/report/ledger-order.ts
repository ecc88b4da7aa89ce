// Owns where a row of evidence stands in the ledger: its id under a symbol, so that no report, block or JSON prints it. Data only.
// Invariant: of two rows of one second the larger is the newer; plain data has none.
export const LEDGER_ORDER: unique symbol = Symbol('order in the ledger');

// Owns how much of a tool's output is kept or shown, as data. The loop's own caps stand above these.
// Knows no tool. Invariant: every limit bounds memory as well as text.

export const OUTPUT_LIMITS = {
  /** Lines and characters of one read_file call, characters of one line. */
  readLines: 2_000,
  readChars: 100_000,
  readLineChars: 2_000,
  /** Bytes of a command's output that stay in the result; the rest is in the spill file. */
  terminalHeadBytes: 16_000,
  terminalTailBytes: 34_000,
  /** Characters of a command's output that the surface gets while it runs. */
  liveChars: 200_000,
  /** A command that prints more than this is ended: a disk must not fill up. */
  terminalMaxBytes: 1024 ** 3,
  /** Bytes of a background job's output that are kept in memory. */
  jobBytes: 32_000,
  /** Characters of one search line. */
  searchLineChars: 300,
  /** Bytes of a page that are fetched, and characters of its text. */
  pageBytes: 5_000_000,
  pageChars: 30_000,
} as const;

/**
 * The only reasons for which a test may be skipped where skips are counted (`TALARIA_NO_SKIPS=1`).
 * Each names something that the machine lacks and that a user of the project could lack too.
 */
export const allowedSkips: readonly RegExp[] = [
  /^skipped: set TALARIA_DATA$/,
  /^skipped: bubblewrap is not installed$/,
  /^skipped: bubblewrap is missing \(apt install bubblewrap\)$/,
  /^skipped: strace is missing \(apt install strace\)$/,
  /^skipped: bubblewrap cannot create a namespace here$/,
  /^skipped: tmux is not installed$/,
  /^skipped: systemd-analyze is not installed$/,
  /^skipped: chromium is not installed$/,
  /^skipped: no memory group can be made here$/,
  /^skipped: no package index answers, the model cannot be fetched$/,
  /^skipped: set TALARIA_TEST_SYNAPSE \(sh scripts\/fetch-synapse\.sh prints it\)$/,
  /^skipped: set TALARIA_TEST_NATS \(sh scripts\/fetch-nats\.sh prints it\)$/,
  /^skipped: set TALARIA_TEST_REACH \(sh scripts\/fetch-reach\.sh\)$/,
  /^skipped: set TALARIA_TEST_CHAIN \(sh scripts\/fetch-chain\.sh prints it\)$/,
  /^skipped: the local engine has no binary for this platform$/,
];

// Owns what a double needs of a test runner: a place to hang its own clean-up. The context of node:test fits.

export interface Teardown {
  after(run: () => void | Promise<void>): void;
}

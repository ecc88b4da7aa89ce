/** A page in Debian's chromium, without a window: opened, looked at, photographed. Nothing of it is kept. */
import { chromium, type Page } from 'playwright-core';
import { findOnPath } from '#base/paths/typed-path.ts';

export interface View {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** @default 'light' */
  readonly scheme?: 'light' | 'dark';
  /** Pixels of the picture for one of CSS. @default 1 */
  readonly scale?: number;
}

export interface ShownPage {
  /** Value of an expression, as JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** PNG of what the view shows. */
  photograph(): Promise<Buffer>;
  /** Presses a key by its name: `Tab`, `Enter`. */
  press(key: string): Promise<void>;
  /** What the page logged, what its policy refused, what it threw. */
  readonly complaints: readonly string[];
  /** Addresses that it asked for, itself left out. */
  readonly requests: readonly string[];
}

export interface Browser {
  open(address: string, view: View): Promise<ShownPage>;
  close(): Promise<void>;
}

/** Absolute path; undefined: it is not there. */
export function findChromium(): string | undefined {
  return findOnPath('chromium', process.env.PATH) ?? findOnPath('chromium-browser', process.env.PATH);
}

export async function startChromium(program: string): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-background-networking', '--hide-scrollbars'];
  const browser = await chromium.launch({ executablePath: program, args });
  return {
    open: async (address, { width, height, scheme = 'light', scale = 1 }) => {
      const context = await browser.newContext({
        ...{ viewport: { width, height }, deviceScaleFactor: scale, colorScheme: scheme },
      });
      return openPage(await context.newPage(), address);
    },
    close: () => browser.close(),
  };
}

async function openPage(page: Page, address: string): Promise<ShownPage> {
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(address);
  return {
    complaints,
    get requests() {
      return requests.filter((url) => url.replace(/#.*/, '') !== address.replace(/#.*/, ''));
    },
    evaluate: (expression) => page.evaluate(expression),
    photograph: () => page.screenshot(),
    press: (key) => page.keyboard.press(key),
  };
}

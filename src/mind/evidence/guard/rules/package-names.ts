// Owns the names that look-alike packages are made from. Knows no registry and no version.
// Invariant: a well-known name is never taken for a look-alike of another one.

const PYTHON =
  'requests numpy pandas scipy flask django fastapi boto3 urllib3 setuptools cryptography pillow matplotlib tensorflow torch pytorch selenium beautifulsoup4 sqlalchemy pydantic openai anthropic langchain transformers scikit-learn opencv-python python-dotenv pyyaml pytest aiohttp httpx colorama web3 playwright psycopg2 redis celery jinja2 paramiko click rich typer uvicorn gunicorn markdown lxml openpyxl pymupdf pypdf tqdm discord telethon ccxt yfinance streamlit gradio';
const NODE =
  'react express lodash axios chalk commander webpack typescript eslint prettier next vue angular moment dotenv mongoose puppeteer playwright cross-env discord.js socket.io electron jsonwebtoken bcrypt nodemon node-fetch request body-parser cheerio sharp ethers web3 openai tailwindcss vite esbuild rollup jest mocha husky uuid async debug underscore bluebird yargs inquirer rimraf colors openclaw clawhub claude-code moltbot clawdbot';
const BOTH = new Set(
  `${PYTHON} ${NODE} preact reacts requestx nuxt neo vitest vuex nest jose jsdom chai colorette request-promise requests-oauthlib requests-cache flask-cors test rest rich-cli async-lru mock ky tar ws zx pnpm yarn np panda pandoc plotly click-log lxml-stubs rust torchx axis express-session redux reflex rx debugpy nexts pillow-heif torchvision aiohttp-cors httpx-sse pydantic-settings uvloop tqdn husk mach sharp-cli chalk-cli ethers-v5 ether react-dom sympy clawdhub molthub numba nuitka pytext pytests dango flash`.split(
    ' ',
  ),
);
const PYTHON_NAMES = PYTHON.split(' ').filter((name) => name.length >= 5);
const NODE_NAMES = NODE.split(' ').filter((name) => name.length >= 5);

/** Whether one of the names in an install command is one slip away from a well-known one. */
export function looksLikePackage(command: string): boolean {
  const words = command.trim().split(/\s+/).slice(0, 10);
  const node = /^(?:npm|pnpm|yarn|bun)$/.test(words[0] ?? '');
  return words.some((word) => isLookAlike(word.replace(/(?:\[.*|[=~><!@^].*)$/, ''), node));
}

function isLookAlike(name: string, node: boolean): boolean {
  if (name.length < 5 || name.length > 24 || !/^[a-z][a-z0-9._-]*$/.test(name) || BOTH.has(name)) return false;
  const known = node ? NODE_NAMES : PYTHON_NAMES;
  return known.some(
    (other) => Math.abs(other.length - name.length) <= 1 && oneSlip(name, other) && !isPlural(name, other),
  );
}

function isPlural(name: string, other: string): boolean {
  return name === `${other}s` || other === `${name}s` || name.replace(/[\d.-]/g, '') === other.replace(/[\d.-]/g, '');
}

/** One letter more, less, other, or two neighbours swapped. */
function oneSlip(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  if (left.length + right.length === 0) return false;
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}

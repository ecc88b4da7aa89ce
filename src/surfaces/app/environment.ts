// Owns the view of the process that everything else is given (variables, folder, terminal), and which of its variables a command gets. The only
// reader of `process.env`. Invariants: a plain value, taken once; tests pass their own; once `holdSecrets` has run, no key stands in `process.env`
// nor in what the system shows of this process; a command gets the variables of a list and those that the owner names, and never what looks
// like a secret unless he named it.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { findSecrets } from '#base/secrets.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export interface Environment {
  readonly variables: Variables;
  /** Keys and tokens that the process was started with; absent: they stand among the variables. */
  readonly keyring?: Keyring;
  /** Absolute folder that the person typed the command in. */
  readonly cwd: string;
  /** The person's own home folder, parent of the default `.talaria`. */
  readonly userHome: string;
  /** Program and first arguments that start this again from anywhere; absent: `talaria` on PATH. */
  readonly program?: readonly string[];
}

/** Its values show in no dump and no JSON of what holds it. */
export class Keyring {
  readonly #values: Readonly<Record<string, string>>;

  constructor(values: Readonly<Record<string, string>>) {
    this.#values = values;
  }

  values(): Readonly<Record<string, string>> {
    return this.#values;
  }
}

let held: Keyring | undefined;

export function readEnvironment(): Environment {
  return {
    variables: { ...process.env },
    ...(held ? { keyring: held } : {}),
    cwd: process.cwd(),
    userHome: homeOfUser(),
    ...startedBy(process.argv[1]),
  };
}

/** The same surroundings for another home. `keys` count as if the process had been started with them. */
export function movedTo(root: string, keys: Readonly<Record<string, string>>, environment: Environment): Environment {
  const { variables, keyring } = environment;
  return {
    ...environment,
    variables: { ...variables, TALARIA_HOME: root },
    keyring: new Keyring({ ...keys, ...keyring?.values() }),
  };
}

/** From here on this process is one of another home; `keys` as in `movedTo`. */
export function enterHome(root: string, keys: Readonly<Record<string, string>>): void {
  held = movedTo(root, keys, readEnvironment()).keyring;
  process.env.TALARIA_HOME = root;
}

/** For a program that is Talaria alone: a program that embeds it keeps its own variables. */
export function holdSecrets(): void {
  const secrets = Object.entries(process.env).flatMap(([name, value = '']) =>
    value !== '' && isSecretVariable(name, value) ? [[name, value] as const] : [],
  );
  for (const [name] of secrets) delete process.env[name];
  held = new Keyring({ ...held?.values(), ...Object.fromEntries(secrets) });
  if (process.platform === 'linux' && secrets.length > 0) blotOut(new Set(secrets.map(([name]) => name)));
}

/** Fields of /proc/PID/stat behind the name of the program. */
const ENV_START = 47;

/** What a process was started with stays readable in /proc until its memory says otherwise. Where that may not be written it stays. */
function blotOut(names: ReadonlySet<string>): void {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[ENV_START]);
    const shown = readFileSync('/proc/self/environ', 'latin1');
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      for (let at = 0; at < shown.length; at = endOf(shown, at) + 1) {
        const value = shown.indexOf('=', at) + 1;
        const length = endOf(shown, at) - value;
        if (!names.has(shown.slice(at, value - 1)) || length <= 0) continue;
        writeSync(memory, Buffer.alloc(length, '*'), 0, length, start + value);
      }
    } finally {
      closeSync(memory);
    }
  } catch {
    // A kernel that keeps a process from its own memory; the walls hide /proc from commands all the same.
  }
}

function endOf(shown: string, from: number): number {
  const end = shown.indexOf('\0', from);
  return end < 0 ? shown.length : end;
}

function startedBy(script: string | undefined): Pick<Environment, 'program'> {
  return script === undefined ? {} : { program: [process.execPath, resolve(script)] };
}

/** An empty HOME must not make the current folder the person's home. */
function homeOfUser(): string {
  return homedir() || userInfo().homedir;
}

/** What programs need to find themselves, their tools and their words. Names of families end in `*`. */
const PASSED = `
  PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM COLORTERM TZ TMPDIR HOSTNAME CI DEBIAN_FRONTEND SOURCE_DATE_EPOCH
  XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
  SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO NIX_SSL_CERT_FILE GRPC_DEFAULT_SSL_ROOTS_FILE_PATH
  GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
  NODE_* NPM_CONFIG_REGISTRY NPM_CONFIG_CACHE NPM_CONFIG_PREFIX npm_config_registry npm_config_cache npm_config_prefix
  NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME N_PREFIX PNPM_HOME YARN_CACHE_FOLDER COREPACK_HOME BUN_INSTALL DENO_DIR PLAYWRIGHT_BROWSERS_PATH
  PYTHONPATH PYTHONHOME PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONUTF8 PYTHONIOENCODING PYENV_ROOT PYENV_VERSION VIRTUAL_ENV
  CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PIP_INDEX_URL PIP_CACHE_DIR PIPX_HOME PIPX_BIN_DIR POETRY_HOME UV_CACHE_DIR UV_PYTHON
  JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME MAVEN_OPTS GRADLE_HOME GRADLE_USER_HOME GRADLE_OPTS ANT_HOME KOTLIN_HOME SCALA_HOME SDKMAN_DIR
  ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME FLUTTER_ROOT DOTNET_ROOT DOTNET_CLI_TELEMETRY_OPTOUT NUGET_PACKAGES
  GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOPROXY GOPRIVATE GOSUMDB GOTOOLCHAIN GOOS GOARCH CGO_ENABLED
  CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE RUST_LOG
  RBENV_ROOT RBENV_VERSION RUBYLIB GEM_HOME GEM_PATH BUNDLE_PATH COMPOSER_HOME PERL5LIB OPAMROOT GHCUP_INSTALL_BASE_PREFIX
  ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY NIX_PATH NIX_PROFILES
  CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CMAKE_PREFIX_PATH CMAKE_GENERATOR PKG_CONFIG_PATH ACLOCAL_PATH
  LD_LIBRARY_PATH LIBRARY_PATH CPATH C_INCLUDE_PATH MANPATH INFOPATH CUDA_HOME CUDA_VISIBLE_DEVICES OMP_NUM_THREADS
  SystemRoot TEMP TMP TALARIA_HOME TALARIA_RLM_DEPTH
`
  .trim()
  .split(/\s+/);
const NAMES: ReadonlySet<string> = new Set(PASSED);
const FAMILIES = PASSED.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

/** What this program's own Node was told is not for others. */
const OURS: ReadonlySet<string> = new Set([
  ...['NODE_OPTIONS', 'NODE_COMPILE_CACHE', 'NODE_TEST_CONTEXT', 'NODE_CHANNEL_FD', 'NODE_UNIQUE_ID'],
]);

const SECRET_NAME = /PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|APIKEY|(?:^|_)KEY(?:_|$)|_PAT$/i;

/** Tells a `talaria` that a command starts that it is no owner's. */
export const INSIDE = 'TALARIA_INSIDE';

/** `named`: what the owner lets through whatever it holds; `hidden`: keys of this home, which only he can let through. */
export function commandVariables(
  variables: Variables,
  { named, hidden }: { readonly named: readonly string[]; readonly hidden: ReadonlySet<string> },
): Variables {
  const given = Object.entries(variables).filter(([name, value = '']) => {
    if (named.includes(name)) return true;
    return isPassed(name) && !hidden.has(name) && !isSecretVariable(name, value) && !carriesPassword(name, value);
  });
  return { ...Object.fromEntries(given), [INSIDE]: '1' };
}

function isPassed(name: string): boolean {
  if (OURS.has(name)) return false;
  return NAMES.has(name) || FAMILIES.some((start) => name.startsWith(start));
}

/** `-Dnexus.pass=…`, `{"pw":…}`; not the folder of a list of folders, `/opt/pass:/usr/bin`. */
const PASSWORD =
  /(?:^|[\s,;{?&"'=])[\w.-]*?(?:pass(?:word|wd|phrase)?|pwd?|secret|token|api[-_]?key)["']?\s{0,3}[:=]\s{0,3}[^\s]/i;
/** `http://me:pw@…`; without a colon it is the token of a registry. */
const URL_PASSWORD = /:\/\/[^\s/@:]*:[^\s/@]+@|https?:\/\/[^\s/@]+@/i;

/** One that holds more than a password, so no look tells: it may stand there in plain words. */
function carriesPassword(name: string, value: string): boolean {
  return /_(?:PASS|PWD?)$/i.test(name) || PASSWORD.test(value) || URL_PASSWORD.test(value);
}

/** By its name, or by its look. */
export function isSecretVariable(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || looksSecret(name, value);
}

/** Every start looks at every variable, and most of them cannot be one. */
const WORTH_A_LOOK = /(?=[\w+-]*\d)[\w+-]{16}|:\/\/[^\s/]*@/;

export function looksSecret(name: string, value: string): boolean {
  return WORTH_A_LOOK.test(value) && findSecrets(`${name}=${value}`).length > 0;
}

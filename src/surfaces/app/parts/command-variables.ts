// Owns which variables of the environment a command gets: those of a list, those that the owner names, and never what looks like a
// secret unless he named it. Knows no home. Invariant: what is not on the list is not passed on, whatever it is called.
import { findSecrets } from '#base/secrets.ts';

type Variables = Readonly<Record<string, string | undefined>>;

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

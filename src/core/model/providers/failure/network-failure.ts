// Owns the translation of broken connections (refused, DNS, TLS, reset, time-outs of the platform) into ModelErrors.
// Knows no wire format. Invariant: what was lost before the first byte of the answer is `model-unreachable`, after it `model-bad-response`.
import { errorCode, errorText, rootCause } from '#base/errors.ts';
import { ModelError, type ModelErrorOptions } from '../../model-client.ts';
import { ENDPOINT_BOUNDS } from '../endpoint-bounds.ts';
import { type Endpoint, shownUrl } from '../provider-options.ts';
import { withoutKeys } from './model-failure.ts';

type Shape = Omit<ModelErrorOptions, 'cause'> & { readonly message: string };

/** @param answered the headers of an answer had arrived */
export function networkFailure(endpoint: Endpoint, error: unknown, answered: boolean): ModelError {
  const root = rootCause(error);
  const shown = shownUrl(endpoint.baseUrl);
  const shape =
    (answered ? undefined : beforeAnswer(root, shown, endpoint)) ??
    platformTimeout(root, shown) ??
    lost(root, shown, answered);
  const { message, ...options } = shape;
  // Only plain system errors stay attached: others may carry the whole URL or request.
  const cause = /^E[A-Z_]+$/.test(errorCode(root) ?? '') ? { cause: root } : {};
  return new ModelError(withoutKeys(endpoint, message), { ...options, ...cause });
}

function beforeAnswer(root: unknown, shown: string, endpoint: Endpoint): Shape | undefined {
  const code = errorCode(root) ?? '';
  if (code === 'ECONNREFUSED') {
    return {
      code: 'model-unreachable',
      retryable: true,
      message: `nothing answers at ${shown} (connection refused)`,
      fix: `Start the server of ${endpoint.provider}, or correct its base URL.`,
    };
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      code: 'model-unreachable',
      retryable: code === 'EAI_AGAIN',
      message: `the name in ${shown} cannot be found (DNS)`,
      fix: 'Check the base URL and the network.',
    };
  }
  if (/^(?:CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_SSL|EPROTO)/.test(code)) {
    return {
      code: 'model-unreachable',
      retryable: false,
      message: `no secure connection to ${shown} (${code})`,
      fix: 'Check whether the address wants http or https, and the certificate of the server.',
    };
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      code: 'model-bad-response',
      retryable: false,
      message: `${shown} sent headers of over ${ENDPOINT_BOUNDS.headerBytes} bytes`,
      fix: 'Look at the server: no model answers like this.',
    };
  }
  if (code.startsWith('ERR_PROXY')) {
    return {
      code: 'model-unreachable',
      retryable: false,
      message: `the proxy lets nothing through to ${shown} (${code})`,
      fix: 'Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY in the environment.',
    };
  }
  if (
    code === 'ERR_INVALID_URL' ||
    /invalid url|failed to parse url|bad port|unknown scheme|includes credentials/i.test(errorText(root))
  ) {
    return {
      code: 'model-not-found',
      retryable: false,
      message: `${shown} is no usable base URL`,
      fix: 'Give a base URL such as https://api.openai.com/v1.',
    };
  }
  return undefined;
}

function platformTimeout(root: unknown, shown: string): Shape | undefined {
  const code = errorCode(root) ?? '';
  if (!/TIMEOUT|ETIMEDOUT/.test(code)) return undefined;
  return {
    code: 'model-timeout',
    retryable: true,
    message: `${shown} did not answer in time (${code})`,
    fix: 'Check the network and the server, then try again.',
  };
}

function lost(root: unknown, shown: string, answered: boolean): Shape {
  const why = errorCode(root) ?? errorText(root);
  return answered
    ? {
        code: 'model-bad-response',
        retryable: true,
        message: `the connection to ${shown} was lost in the middle of the answer (${why})`,
        fix: 'Try again; if it stays, look at the server or the network.',
      }
    : {
        code: 'model-unreachable',
        retryable: true,
        message: `the connection to ${shown} was lost before an answer came (${why})`,
        fix: 'Check the network and the server, then try again.',
      };
}

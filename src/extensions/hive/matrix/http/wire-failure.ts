// Owns what a broken connection means: refused, unknown name, TLS, reset and platform time-outs become one PeerError. Knows no endpoint. Pure.
import { errorCode, errorText, rootCause } from '#base/errors.ts';
import { PeerError } from '../../peers/peer-error.ts';

/** @param server origin of the homeserver */
export function wireFailure(error: unknown, server: string): PeerError {
  const root = rootCause(error);
  const code = errorCode(root) ?? '';
  // Only plain system errors stay attached: others may carry the whole request.
  const cause = /^E[A-Z_]+$/.test(code) ? { cause: root } : {};
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return timeFailure(server);
  const [message, retryable, fix] = reasonOf(code, server, errorText(root));
  return new PeerError(message, { code: 'peers-unreachable', retryable, fix, ...cause });
}

export function timeFailure(server: string): PeerError {
  return new PeerError(`${server} did not answer in time`, {
    code: 'peers-timeout',
    retryable: true,
    fix: 'Check the server and the network, then try again.',
  });
}

type Reason = readonly [message: string, retryable: boolean, fix: string];

function reasonOf(code: string, server: string, text: string): Reason {
  if (code === 'ECONNREFUSED')
    return [
      `nothing answers at ${server} (connection refused)`,
      false,
      'Start the server, or correct MATRIX_HOMESERVER.',
    ];
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return [`the name in ${server} cannot be found (DNS)`, false, 'Check MATRIX_HOMESERVER and the network.'];
  if (/^(?:CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_SSL|EPROTO)/.test(code))
    return [
      `no secure connection to ${server} (${code})`,
      false,
      'Check whether the address wants http or https, and the certificate of the server.',
    ];
  if (/bad port|unknown scheme|invalid url/i.test(text))
    return [`${server} is no usable address`, false, 'Correct MATRIX_HOMESERVER.'];
  const why = code === '' ? 'connection lost' : code;
  return [`the connection to ${server} broke (${why})`, true, 'Check the network and the server, then try again.'];
}

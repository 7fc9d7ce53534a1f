/** Why an upstream call failed, in the words of the proxy planes (interface rule 12 §10, §14); `aborted` is our own doing. */
export type FaultType =
  | 'upstream_unreachable'
  | 'upstream_tls_error'
  | 'upstream_protocol_error'
  | 'upstream_timeout'
  | 'upstream_not_allowed'
  | 'upstream_response_too_large'
  | 'route_misconfigured'
  | 'aborted'
  | 'internal_error';

/** An upstream failure whose message names the host and the class of failure, never an address, a certificate or a secret. */
export class UpstreamFault extends Error {
  readonly type: FaultType;
  /** `connect`: nothing of the request was sent, so any method may be tried again. */
  readonly phase: 'connect' | 'exchange';
  /** The socket had served an earlier call: a failure before any response byte may just be a stale connection. */
  readonly reused: boolean;

  constructor(type: FaultType, message: string, options: { phase?: 'connect' | 'exchange'; reused?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UpstreamFault';
    this.type = type;
    this.phase = options.phase ?? 'exchange';
    this.reused = options.reused ?? false;
  }
}

/** Maps any error of a dispatch (socket, TLS, parser, timers) to a fault with a message that is fit for callers. */
export function classifyFault(error: unknown, host: string): UpstreamFault {
  if (error instanceof UpstreamFault) return error;
  const { code = '', message = '', name = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const reused = wasReused(error);
  const fault = (type: FaultType, sentence: string) => new UpstreamFault(type, sentence, { reused, cause: error });
  if (
    code === 'UND_ERR_ABORTED' ||
    code === 'ABORT_ERR' ||
    code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' ||
    code === 'ERR_STREAM_PREMATURE_CLOSE'
  )
    return fault('aborted', 'The call was given up before the upstream answered.');
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return fault('upstream_timeout', `The host ${host} did not answer in time.`);
  if (PROTOCOL_CODES.has(code) || name === 'HTTPParserError' || (code === 'UND_ERR_SOCKET' && message.startsWith('bad ')))
    return fault('upstream_protocol_error', `The host ${host} sent a malformed HTTP response.`);
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO')
    return fault('upstream_tls_error', `The TLS connection with the host ${host} failed.`);
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return fault('internal_error', 'The upstream request could not be built.');
  return fault('upstream_unreachable', `The host ${host} could not be reached or closed the connection.`);
}

const PROTOCOL_CODES = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

const reusedErrors = new WeakSet<object>();

/** Remembers that this error came from a socket that had already delivered a response. */
export function markReused(error: object): void {
  reusedErrors.add(error);
}

function wasReused(error: unknown): boolean {
  return typeof error === 'object' && error !== null && reusedErrors.has(error);
}

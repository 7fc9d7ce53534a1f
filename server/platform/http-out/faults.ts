/** Why an upstream call failed, in the words of the proxy planes (interface rule 12 §10, §14); `aborted` and `concurrency_limit_exceeded` are our own doing. */
export type FaultType =
  | 'upstream_unreachable'
  | 'upstream_tls_error'
  | 'upstream_protocol_error'
  | 'upstream_timeout'
  | 'upstream_not_allowed'
  | 'upstream_response_too_large'
  | 'concurrency_limit_exceeded'
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
  /** The upstream says that it has done nothing with the request (RFC 9113 §8.7): any method may be tried again. */
  readonly unprocessed: boolean;

  constructor(
    type: FaultType,
    message: string,
    options: { phase?: 'connect' | 'exchange'; reused?: boolean; unprocessed?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UpstreamFault';
    this.type = type;
    this.phase = options.phase ?? 'exchange';
    this.reused = options.reused ?? false;
    this.unprocessed = options.unprocessed ?? false;
  }
}

/** Said when the gateway has no memory left for an answer. The upstream may have done what was asked. */
export const ANSWERS_CROWDED =
  'The upstream was called, but too many response bodies are held in memory. Try again shortly, if doing it twice is safe.';
export const answersCrowded = (): UpstreamFault => new UpstreamFault('concurrency_limit_exceeded', ANSWERS_CROWDED);

/** Maps an error of a socket or of TLS to a fault with a message that is fit for callers. */
export function classifyFault(error: unknown, host: string, reused = false): UpstreamFault {
  if (error instanceof UpstreamFault) return error;
  const { code = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const fault = (type: FaultType, sentence: string) => new UpstreamFault(type, sentence, { reused, cause: error });
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO')
    return fault('upstream_tls_error', `The TLS connection to ${host} failed.`);
  return fault('upstream_unreachable', `The host ${host} could not be reached or closed the connection.`);
}

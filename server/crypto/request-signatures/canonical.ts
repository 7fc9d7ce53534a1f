import { hash } from 'node:crypto';

/** What signature v1 covers of a call (interface rule 10 §9.3). Texts are as they were sent, one character a byte. */
export type SignedCall = {
  /** Unix seconds, 10 digits. */
  timestamp: string;
  /** '' without a nonce. */
  nonce: string;
  /** Host header, with or without its port. */
  host: string;
  /** The path segment before percent-decoding, or X-Svc-Route trimmed. */
  reference: string;
  /** X-Svc-Environment trimmed, '' when absent. */
  environment: string;
  method: string;
  /** Path without entry prefix and route segment. */
  path: string;
  /** Without `?`; null when there is none. */
  query: string | null;
};

/** Ten lines. None can hold a line feed, so different calls never have the same string. */
export const v1Message = (call: SignedCall, body: Uint8Array): Buffer =>
  Buffer.from(
    [
      'v1',
      call.timestamp,
      call.nonce,
      withoutPort(call.host).toLowerCase(),
      call.reference,
      call.environment,
      call.method.toUpperCase(),
      call.path || '/',
      call.query ?? '',
      hash('sha256', body, 'hex'),
    ].join('\n'),
    'latin1',
  );

/** The head of scheme `concat`, which the body follows without a separator (interface rule 10 §9.5). */
export const concatHead = ({ timestamp, method, path, query }: Pick<SignedCall, 'timestamp' | 'method' | 'path' | 'query'>): Buffer =>
  Buffer.from(`${timestamp}${method.toUpperCase()}${path || '/'}${query === null || query === '' ? '' : `?${query}`}`, 'latin1');

/** `[::1]:8080` keeps its brackets. */
const withoutPort = (host: string): string => host.replace(/:\d*$/, '');

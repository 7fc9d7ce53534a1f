import type { RpcCode } from '../errors.ts';
import { isObject, type Params } from '../messages.ts';

/** Why an upstream gave no JSON-RPC answer. */
export type UpstreamFaultCode = Extract<
  RpcCode,
  | 'upstream_blocked'
  | 'upstream_unreachable'
  | 'upstream_timeout'
  | 'upstream_auth_failed'
  | 'upstream_invalid_response'
  | 'result_too_large'
>;

/** What became of a request to an upstream. */
export type Reply =
  | { readonly kind: 'result'; readonly result: Params }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data: unknown; readonly status: number }
  | { readonly kind: 'fault'; readonly code: UpstreamFaultCode; readonly message: string; readonly status: number }
  /** The upstream no longer knows the session; nothing was done. */
  | { readonly kind: 'session_lost' }
  /** The caller gave the request up. */
  | { readonly kind: 'canceled' };

export const upstreamFault = (code: UpstreamFaultCode, message: string, status = 0): Reply => ({ kind: 'fault', code, message, status });

const LONGEST_MESSAGE = 2_000;

/** The reply that a JSON-RPC response is; undefined when it is none. */
export function replyOf(message: unknown, status: number): Reply | undefined {
  if (!isObject(message) || message.jsonrpc !== '2.0') return undefined;
  if (isObject(message.result)) return { kind: 'result', result: message.result };
  const { error } = message;
  if (!isObject(error) || typeof error.code !== 'number' || !Number.isSafeInteger(error.code)) return undefined;
  const text = typeof error.message === 'string' ? error.message.slice(0, LONGEST_MESSAGE) : '';
  return { kind: 'error', code: error.code, message: text, data: error.data, status };
}

const FAULTS: Readonly<Record<string, readonly [UpstreamFaultCode, string]>> = {
  upstream_not_allowed: ['upstream_blocked', "The MCP server's address may not be called."],
  upstream_timeout: ['upstream_timeout', 'The MCP server did not answer in time.'],
  upstream_response_too_large: ['result_too_large', 'The answer of the MCP server exceeds 8 MiB.'],
  upstream_protocol_error: ['upstream_invalid_response', 'The MCP server did not answer in valid HTTP.'],
};

/** The reply for an error of the wire; what it says of hosts stays out of it. */
export function replyOfError(error: unknown): Reply {
  const type = typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : '';
  if (type === 'aborted') return { kind: 'canceled' };
  return upstreamFault(...(FAULTS[type] ?? (['upstream_unreachable', 'The MCP server could not be reached.'] as const)));
}

/** The reply for an HTTP answer that carries no JSON-RPC response. Redirects are not followed. */
export function replyOfStatus(status: number): Reply {
  if (status === 401 || status === 403)
    return upstreamFault('upstream_auth_failed', 'The MCP server did not accept the credential that it was sent.', status);
  return upstreamFault('upstream_invalid_response', `The MCP server answered with HTTP status ${status} and no MCP message.`, status);
}

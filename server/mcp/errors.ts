import type { Era } from './versions.ts';

/** A refusal as a JSON-RPC error: the status carries its class, `data.code` its reason (interface rule 52 §7). */
export type RpcFault = {
  readonly code: RpcCode;
  readonly message: string;
  /** Whole seconds. */
  readonly retryAfter?: number | undefined;
  /** Joins `data`. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** For the log only. */
  readonly cause?: unknown;
};

/**
 * The number of each code and its HTTP status; the third is the status for clients of the legacy era where it is another one. Their libraries take any other
 * status than 200 for the end of the session and don't read its body (mcp 1.x of Python), so an error that answers a request has 200 for them unless a
 * specification says otherwise: MCP of messages and sessions that are wrong (400, 404), the interface of callers that aren't known (401), caps (429), what a
 * token's scope or a guardrail forbids (the status is its class), and a gateway that is paused (503). One server that is paused must not end a session of the
 * aggregate, which has others.
 */
const RPC_CODES = {
  parse_error: [-32700, 400],
  invalid_request: [-32600, 400],
  unsupported_media_type: [-32600, 415],
  payload_too_large: [-32600, 413],
  unknown_session: [-32600, 404],
  session_required: [-32600, 400],
  method_not_allowed: [-32600, 405],
  method_not_found: [-32601, 404, 200],
  invalid_envelope: [-32602, 400],
  invalid_params: [-32602, 200],
  invalid_arguments: [-32602, 200],
  missing_auth: [-32001, 401],
  origin_not_allowed: [-32000, 403],
  rate_limited: [-32000, 429],
  token_cap_exceeded: [-32000, 429],
  budget_exceeded: [-32000, 429],
  operation_not_allowed: [-32000, 403],
  user_required: [-32000, 403],
  user_mismatch: [-32000, 403],
  guardrail_block: [-32000, 400],
  guardrail_unavailable: [-32000, 503],
  tool_not_allowed: [-32001, 403, 200],
  firewall_block: [-32002, 400, 200],
  argument_rule: [-32000, 403, 200],
  approval_required: [-32000, 403, 200],
  grant_required: [-32000, 403, 200],
  input_required_refused: [-32000, 403, 200],
  credential_unavailable: [-32000, 503, 200],
  firewall_unavailable: [-32000, 503, 200],
  pii_unavailable: [-32000, 503, 200],
  budget_unavailable: [-32000, 503, 200],
  dependency_unavailable: [-32000, 503, 200],
  canceled: [-32000, 503, 200],
  upstream_blocked: [-32000, 502, 200],
  upstream_unreachable: [-32000, 502, 200],
  upstream_timeout: [-32000, 502, 200],
  upstream_auth_failed: [-32000, 502, 200],
  upstream_invalid_response: [-32000, 502, 200],
  result_too_large: [-32000, 502, 200],
  route_refused: [-32000, 502, 200],
  gateway_not_active: [-32603, 503],
  server_not_active: [-32603, 503, 200],
  internal_error: [-32603, 500, 200],
  header_mismatch: [-32020, 400],
  missing_client_capability: [-32021, 400],
  unsupported_version: [-32022, 400],
} as const satisfies Record<string, readonly [rpc: number, status: number, legacy?: 200]>;

export type RpcCode = keyof typeof RPC_CODES;

/** All of them, for tests that go through the table. */
export const RPC_CODE_NAMES = Object.keys(RPC_CODES) as readonly RpcCode[];

export const fault = (code: RpcCode, message: string, more: Omit<RpcFault, 'code' | 'message'> = {}): RpcFault => ({
  code,
  message,
  ...more,
});

export const GATEWAY_PAUSED = 'The gateway of this MCP server is paused or archived. Calls work again once it is active.';
export const SERVER_PAUSED = 'This MCP server is paused. Calls work again once it is active.';

export const isRpcCode = (code: string): code is RpcCode => Object.hasOwn(RPC_CODES, code);

export const isFault = (value: object): value is RpcFault => 'code' in value && typeof value.code === 'string' && isRpcCode(value.code);

export const rpcNumber = (code: RpcCode): number => RPC_CODES[code][0];

/** `answersRequest`: whether the error carries the id of a request. Without it only the status tells the client that its request has failed. */
export function statusOf(code: RpcCode, era: Era, answersRequest: boolean): number {
  const [, status, legacy = status] = RPC_CODES[code] as readonly [number, number, number?];
  return era === 'legacy' && answersRequest ? legacy : status;
}

/** Members that the protocol itself puts into the data of these errors; the reason goes beside them. */
export type RpcErrorBody = { code: number; message: string; data: Record<string, unknown> };

/** The error object of a fault. */
export const errorBody = ({ code, message, retryAfter, data }: RpcFault, requestId: string): RpcErrorBody => ({
  code: rpcNumber(code),
  message,
  data: { code, request_id: requestId, ...(retryAfter !== undefined && { retry_after: retryAfter }), ...data },
});

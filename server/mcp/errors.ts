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

const RPC_CODES = {
  parse_error: [-32700, 400],
  invalid_request: [-32600, 400],
  unsupported_media_type: [-32600, 415],
  payload_too_large: [-32600, 413],
  unknown_session: [-32600, 404],
  session_required: [-32600, 400],
  method_not_allowed: [-32600, 405],
  method_not_found: [-32601, 200],
  invalid_envelope: [-32602, 400],
  invalid_params: [-32602, 200],
  invalid_arguments: [-32602, 200],
  missing_auth: [-32001, 401],
  origin_not_allowed: [-32000, 403],
  rate_limited: [-32000, 429],
  tool_not_allowed: [-32001, 403],
  firewall_block: [-32002, 400],
  argument_rule: [-32000, 403],
  approval_required: [-32000, 403],
  operation_not_allowed: [-32000, 403],
  user_required: [-32000, 403],
  user_mismatch: [-32000, 403],
  grant_required: [-32000, 403],
  input_required_refused: [-32000, 403],
  guardrail_block: [-32000, 400],
  token_cap_exceeded: [-32000, 429],
  budget_exceeded: [-32000, 429],
  credential_unavailable: [-32000, 503],
  firewall_unavailable: [-32000, 503],
  pii_unavailable: [-32000, 503],
  guardrail_unavailable: [-32000, 503],
  budget_unavailable: [-32000, 503],
  dependency_unavailable: [-32000, 503],
  canceled: [-32000, 503],
  upstream_blocked: [-32000, 502],
  upstream_unreachable: [-32000, 502],
  upstream_timeout: [-32000, 502],
  upstream_auth_failed: [-32000, 502],
  upstream_invalid_response: [-32000, 502],
  result_too_large: [-32000, 502],
  route_refused: [-32000, 502],
  gateway_not_active: [-32603, 503],
  server_not_active: [-32603, 503],
  internal_error: [-32603, 500],
  header_mismatch: [-32020, 400],
  missing_client_capability: [-32021, 400],
  unsupported_version: [-32022, 400],
} as const satisfies Record<string, readonly [rpc: number, status: number]>;

export type RpcCode = keyof typeof RPC_CODES;

export const fault = (code: RpcCode, message: string, more: Omit<RpcFault, 'code' | 'message'> = {}): RpcFault => ({
  code,
  message,
  ...more,
});

export const isFault = (value: object): value is RpcFault => 'code' in value && typeof value.code === 'string' && value.code in RPC_CODES;

export const rpcNumber = (code: RpcCode): number => RPC_CODES[code][0];

/** Old clients take any other status for a lost connection, so a legacy method that isn't served is answered with 200. */
export const statusOf = (code: RpcCode, era: Era): number => (code === 'method_not_found' && era === 'modern' ? 404 : RPC_CODES[code][1]);

/** Members that the protocol itself puts into the data of these errors; the reason goes beside them. */
export type RpcErrorBody = { code: number; message: string; data: Record<string, unknown> };

/** The error object of a fault. */
export const errorBody = ({ code, message, retryAfter, data }: RpcFault, requestId: string): RpcErrorBody => ({
  code: rpcNumber(code),
  message,
  data: { code, request_id: requestId, ...(retryAfter !== undefined && { retry_after: retryAfter }), ...data },
});

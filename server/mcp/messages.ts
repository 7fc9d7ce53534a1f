import { assertJsonShape, BODY_SHAPE } from '#server/kernel/bounded-text.ts';
import { isComparable, isWhole } from '#server/kernel/decimals.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { asDoubles, isExact, type LosslessNumber, parseExact } from '#server/kernel/lossless-json.ts';
import { asSameDoubles } from '#server/kernel/number-values.ts';
import { fault, type RpcFault } from './errors.ts';

// One JSON-RPC message in a body (interface rule 52 §3).

/** A text, or a whole number, which beyond 2^53 keeps its digits. */
export type RpcId = string | number | LosslessNumber;
export type Params = Readonly<Record<string, unknown>>;
export type RpcRequest = { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: Params };
export type RpcNotification = { readonly kind: 'notification'; readonly method: string; readonly params: Params };
/** A client's answer to a request of the server's. */
export type RpcResponse = { readonly kind: 'response'; readonly id: RpcId };
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** `id` is that of the request when it could be read, so that the client can tell which of its calls failed. */
export type Unreadable = { readonly kind: 'unreadable'; readonly id: RpcId | null; readonly fault: RpcFault };

const LONGEST_METHOD = 128;
const LONGEST_ID = 256;

/** Reads a body. A member that comes twice counts as its last, which is also the one that is sent on. */
export function readMessage(text: string): RpcMessage | Unreadable {
  let value: unknown;
  try {
    assertJsonShape(text, BODY_SHAPE);
    value = parseExact(text);
  } catch (error) {
    if (error instanceof Refusal) return unreadable('invalid_request', error.message);
    return unreadable('parse_error', 'The request body is not valid JSON.');
  }
  if (Array.isArray(value)) return unreadable('invalid_request', 'Batches are not accepted. Send one JSON-RPC message per request.');
  if (!isObject(value) || value.jsonrpc !== '2.0')
    return unreadable('invalid_request', 'The request body must be a JSON-RPC object with "jsonrpc": "2.0".');
  return readObject(withDoubles(value, 'params', 'id'));
}

function readObject({ id, method, params, result, error }: Params): RpcMessage | Unreadable {
  const known = idOf(id) ?? null;
  if (id !== undefined && known === null)
    return unreadable('invalid_request', 'The "id" of a JSON-RPC message must be a string or an integer.');
  if (method === undefined && (result !== undefined || error !== undefined))
    return known === null ? unreadable('invalid_request', 'A JSON-RPC response needs an "id".') : { kind: 'response', id: known };
  if (typeof method !== 'string' || method === '' || method.length > LONGEST_METHOD)
    return unreadable('invalid_request', 'The "method" of a JSON-RPC message must be a string.', known);
  if (params !== undefined && !isObject(params))
    return unreadable('invalid_request', 'The "params" of a JSON-RPC message must be an object.', known);
  const given = withDoubles(params ?? {}, 'arguments', 'inputResponses', '_meta', 'requestId');
  return known === null ? { kind: 'notification', method, params: given } : { kind: 'request', id: known, method, params: given };
}

const unreadable = (code: 'parse_error' | 'invalid_request', message: string, id: RpcId | null = null): Unreadable => ({
  kind: 'unreadable',
  id,
  fault: fault(code, message),
});

/** The id that a value is; undefined for a fraction and whatever else is none. */
export function idOf(value: unknown): RpcId | undefined {
  if (typeof value === 'string') return value.length <= LONGEST_ID ? value : undefined;
  const id = asSameDoubles(value);
  if (isExact(id)) return id.value.length <= LONGEST_ID && isComparable(id) && isWhole(id) ? id : undefined;
  return Number.isInteger(id) ? (id as number) : undefined;
}

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value);

/** The value with the nearest doubles, which the protocol's own members are read as, but for what is passed on as it is: members of these names. */
export const withDoubles = (value: Params, ...kept: readonly string[]): Params =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, kept.includes(name) ? member : asDoubles(member)]));

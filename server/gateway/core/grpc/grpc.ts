import type { Call } from '../call.ts';
import { type Refused, refused } from '../refusal.ts';
import { isGrpc } from './media-type.ts';

/** Longer ones are as good as none: a timer can't count them. */
const LONGEST_MS = 2 ** 31 - 1;
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Notes that a call is one of gRPC: it came by HTTP/2 with its media type. It goes to its upstream by HTTP/2, with trailers both ways, and is refused in the
 * words of gRPC.
 */
export function readGrpc(call: Call): Refused | undefined {
  if (!isGrpc(call.contentType)) return undefined;
  const text = call.req.headers['grpc-timeout'];
  const [, count, unit] = /^(\d{1,8})([HMSmun])$/.exec(typeof text === 'string' ? text : '') ?? [];
  const ms = Math.ceil(Number(count) * (UNIT_MS[unit ?? ''] ?? 0));
  call.grpc = { timeoutMs: count !== undefined && ms <= LONGEST_MS ? ms : null, trailers: null, unwatch: null };
  if (text !== undefined && count === undefined) return refused('invalid_request', 'The header grpc-timeout is malformed.');
  return call.method === 'POST' ? undefined : refused('method_not_allowed', 'A gRPC call is a POST request.', { allow: 'POST' });
}

/** What can't be done to messages of gRPC, which are read by nobody on their way. */
export function refuseGrpc({ scrub, answerEdit, lineEdit }: Call): Refused | undefined {
  if (scrub !== null)
    return refused(
      'secret_type_not_injectable',
      "A secret that is shared for use only can't be sent with a gRPC call: its answers aren't searched.",
    );
  return answerEdit !== null || lineEdit !== null ? refused('field_action_failed', FIELDS) : undefined;
}

const FIELDS = "This route changes fields of messages, which isn't possible in gRPC.";

/** The same for what would be done before anything is sent. */
export function refuseGrpcConfig(config: { body: unknown; fields: unknown }, signsBody: boolean): Refused | undefined {
  if (config.fields !== null) return refused('field_action_failed', FIELDS);
  if (config.body !== null)
    return refused('unsupported_media_type', "This route injects values into the body, which isn't possible in gRPC messages.");
  return signsBody
    ? refused('route_misconfigured', "This route signs the body of requests, which isn't possible for gRPC calls.")
    : undefined;
}

import { errorBody, fault, isRpcCode, type RpcFault, statusOf } from '#server/mcp/errors.ts';
import type { Params } from '#server/mcp/messages.ts';
import { ANSWERED, type RefusalAnswer } from '../core/plane.ts';
import type { Refused } from '../core/refusal.ts';
import { blockLines } from '../core/response-block.ts';
import { asAiRefusal } from '../governance/envelope.ts';
import type { McpCall } from './mcp-call.ts';

// Answers after a message was read: JSON-RPC in every case, with the block of headers that every plane sends (interface rule 52 §7).

type Answer = { status: number; body: string; code?: string | null; fields?: readonly string[] };

/** Writes an answer of ours and ends the call. */
export function answer(call: McpCall, { status, body, code = null, fields = [] }: Answer): typeof ANSWERED {
  const { res } = call;
  if (res.destroyed) return gone(call);
  call.status = status;
  call.error = code;
  call.phase = 'complete';
  call.latencyMs = Math.round(performance.now() - call.began);
  call.responseBytes = Buffer.byteLength(body);
  const type = body === '' ? [] : ['Content-Type', 'application/json'];
  const length = status === 204 ? [] : ['Content-Length', String(call.responseBytes)];
  const all = [...type, ...length, 'Cache-Control', 'no-store', ...corsFields(call), ...fields];
  res.begin(status, undefined, { lines: blockLines(call, code), fields: all }).end(call.method === 'HEAD' ? undefined : body);
  return ANSWERED;
}

export function gone(call: McpCall): typeof ANSWERED {
  call.status = 0;
  call.error = 'client_closed';
  call.state.outcome = 'client_closed';
  return ANSWERED;
}

export const answerResult = (call: McpCall, result: Params, fields: readonly string[] = []): typeof ANSWERED =>
  answer(call, { status: 200, body: resultText(call, result), fields });

export const resultText = ({ state }: McpCall, result: Params): string => JSON.stringify({ jsonrpc: '2.0', id: state.id, result });

export function answerFault(call: McpCall, refusal: RpcFault, fields: readonly string[] = []): typeof ANSWERED {
  return answer(call, {
    status: statusOf(refusal.code, call.state.era, call.state.id !== null),
    body: faultText(call, refusal),
    code: refusal.code,
    fields: [...waitFields(refusal), ...fields],
  });
}

const waitFields = ({ retryAfter }: RpcFault): string[] =>
  retryAfter === undefined ? [] : ['Retry-After', String(Math.max(1, Math.ceil(retryAfter)))];

const bodyFields = (body: string): string[] => [
  'Content-Type',
  'application/json',
  'Content-Length',
  String(Buffer.byteLength(body)),
  'Cache-Control',
  'no-store',
];

/** What a phase refuses or fails by after the message was read: an error of the request, like every other from then on. */
export function requestRefusalAnswer(call: McpCall, refused: Refused<string>): RefusalAnswer {
  const { code, message, retryAfter } = asAiRefusal(refused);
  const refusal = fault(isRpcCode(code) ? code : 'internal_error', message, { retryAfter });
  const body = faultText(call, refusal);
  call.origin = 'service';
  call.phase = 'complete';
  return {
    status: statusOf(refusal.code, call.state.era, true),
    head: { lines: blockLines(call, refusal.code), fields: [...bodyFields(body), ...waitFields(refusal)] },
    body,
  };
}

export const faultText = ({ state, requestId }: McpCall, refusal: RpcFault): string =>
  JSON.stringify({ jsonrpc: '2.0', id: state.id, error: errorBody(refusal, requestId) });

/** Nothing to say: a notification was taken, or a session ended. */
export const answerNothing = (call: McpCall, status: 202 | 204): typeof ANSWERED => answer(call, { status, body: '' });

const EXPOSED = 'MCP-Session-Id, WWW-Authenticate';

export const corsFields = ({ state: { origin } }: McpCall): string[] =>
  origin === null ? [] : ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, 'Vary', 'Origin'];

/** An answer that streams because something is told before the result. Nothing is written before the first of it. */
export class AnswerStream {
  readonly #call: McpCall;
  #open = false;

  constructor(call: McpCall) {
    this.#call = call;
  }

  /** A notification for the caller. */
  notify(method: string, params: Params): void {
    const { res } = this.#call;
    if (res.destroyed) return;
    if (!this.#open) this.#begin();
    this.#write(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  /** The result: as the last event of a stream, or as a body when nothing came before it. `code` is for the log. */
  result(result: Params, code: string | null): typeof ANSWERED {
    const text = resultText(this.#call, result);
    return this.#open ? this.#end(text, code) : answer(this.#call, { status: 200, body: text, code });
  }

  fault(fault: RpcFault): typeof ANSWERED {
    return this.#open ? this.#end(faultText(this.#call, fault), fault.code) : answerFault(this.#call, fault);
  }

  /** An upstream's error, with its code and its words; what else it said stays here. */
  relayed(code: number, message: string): typeof ANSWERED {
    const text = JSON.stringify({ jsonrpc: '2.0', id: this.#call.state.id, error: { code, message } });
    return this.#open ? this.#end(text, 'upstream_rpc_error') : answer(this.#call, { status: 200, body: text, code: 'upstream_rpc_error' });
  }

  #begin(): void {
    const call = this.#call;
    this.#open = true;
    call.status = 200;
    call.phase = 'first-byte';
    const fields = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-store', 'X-Accel-Buffering', 'no', ...corsFields(call)];
    call.res.begin(200, undefined, { lines: blockLines(call, null), fields });
    call.res.flushHeaders();
  }

  #write(text: string): void {
    const event = `event: message\ndata: ${text}\n\n`;
    this.#call.responseBytes += Buffer.byteLength(event);
    this.#call.res.write(event);
  }

  #end(text: string, code: string | null): typeof ANSWERED {
    const { res } = this.#call;
    if (res.destroyed) return gone(this.#call);
    this.#call.error = code;
    // The result goes out with the end of the answer, which may be held.
    res.cork();
    this.#write(text);
    res.end();
    return ANSWERED;
  }
}

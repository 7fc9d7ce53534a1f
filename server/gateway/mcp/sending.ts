import type { Envelope } from '#server/mcp/envelope.ts';
import type { Params, RpcRequest } from '#server/mcp/messages.ts';
import type { Runtime } from '../core/runtime.ts';
import type { McpCall } from './mcp-call.ts';
import type { Offer } from './offers.ts';
import type { Progress } from './progress.ts';

/** A call of a tool that every check has passed. */
export type Sending = {
  readonly call: McpCall;
  readonly runtime: Runtime;
  readonly request: RpcRequest;
  readonly envelope: Envelope;
  readonly offer: Offer;
  readonly args: Params;
  /** Beside the arguments. */
  readonly inputs: Params;
  readonly signal: AbortSignal;
  readonly progress: Progress;
};

import { isExact, valueText } from '#server/kernel/lossless-json.ts';
import { idOf, type RpcId } from '#server/mcp/messages.ts';
import type { McpCall } from './mcp-call.ts';

// Requests under way that their client may cancel by another message (legacy era). A modern client hangs up instead.

const running = new Map<string, AbortController>();

const keyOf = ({ state: { principal, sessionId } }: McpCall, id: RpcId | null): string =>
  `${principal?.token.id} ${sessionId} ${typeof id} ${isExact(id) ? valueText(id) : id}`;

/** A signal that ends the work of a request: when it is canceled or, in the modern era, when its caller hangs up. Call `done` when it is over. */
export function cancelable(call: McpCall): { controller: AbortController; done(): void } {
  const controller = new AbortController();
  if (call.state.era === 'modern') {
    const { res } = call;
    const hungUp = () => {
      if (!res.writableFinished) controller.abort();
    };
    res.once('close', hungUp);
    return { controller, done: () => res.off('close', hungUp) };
  }
  const key = keyOf(call, call.state.id);
  running.set(key, controller);
  return {
    controller,
    done() {
      if (running.get(key) === controller) running.delete(key);
    },
  };
}

/** Only requests of the same token and session can be meant. */
export function cancel(call: McpCall, requestId: unknown): void {
  const id = idOf(requestId);
  if (id !== undefined) running.get(keyOf(call, id))?.abort();
}

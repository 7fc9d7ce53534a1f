import { hostname } from 'node:os';
import { INBOUND_MODE } from '#server/domain/inbound-webhooks/formats.shared.ts';
import { InboundOrder, type InboundRecord, type RouteAnswer } from '#server/domain/inbound-webhooks/order.schema.ts';
import { scrub } from '#server/platform/log.ts';
import { actingCaller } from '../core/acting-caller.ts';
import type { InProcess } from '../core/in-process.ts';
import type { LogRow } from '../core/log/row.ts';
import type { Order } from '../core/orders.ts';
import type { Runtime } from '../core/runtime.ts';

type Options = {
  /** Calls of the route plane from within this process. */
  routes: InProcess;
  /** The request log. */
  take(row: LogRow): void;
  baseHost: string;
};

/** Senders of events wait no longer. */
const PATIENCE_MS = 25_000;
const MOST_BYTES = 1024 * 1024;
const MAX_USER_AGENT = 256;

/** Orders of the web process for calls that came to a receiver (interface rule 60 §9): a row of the request log, or a call of a route that says it was verified. */
export function inboundOrders({ snapshots }: Pick<Runtime, 'snapshots'>, { routes, take, baseHost }: Options): Order {
  return {
    async take(given) {
      const parsed = InboundOrder.safeParse(given);
      if (!parsed.success) return { status: 400, body: {} };
      if (parsed.data.kind === 'forward') return { status: 200, body: await forwarded(parsed.data) };
      take(rowOf(parsed.data));
      return { status: 200, body: {} };
    },
    serves: () => false,
  };

  async function forwarded(order: Extract<InboundOrder, { kind: 'forward' }>): Promise<RouteAnswer> {
    const entry = snapshots.byId(order.tenant_id);
    if (!entry) return { status: null, content_type: null, body: '', refused: 'workspace_not_found' };
    const [snapshot, otherSpace] = order.sandbox ? [entry.test, entry.live] : [entry.live, entry.test];
    const answer = await routes.send({
      snapshot,
      otherSpace,
      caller: actingCaller({ id: order.receiver_id, label: `Inbound webhook ${order.name}`, subjects: order.callers }),
      method: 'POST',
      target: `/${order.route_id}${order.query.length > 1 ? `/${order.query}` : ''}`,
      headers: order.headers.flat(),
      body: Buffer.from(order.body, 'base64'),
      host: `${order.sandbox ? 'sandbox-' : ''}${entry.row.slug}.${baseHost}`,
      sourceAddress: order.source_address,
      requestId: order.request_id,
      timeoutMs: PATIENCE_MS,
      maxBytes: MOST_BYTES,
      verified: true,
    });
    if (answer === null) return { status: null, content_type: null, body: '', refused: null };
    const own = answer.header('x-svc-origin') === 'service' ? (answer.header('x-svc-error') ?? 'refused') : null;
    return {
      status: answer.status,
      content_type: answer.header('content-type') ?? null,
      body: answer.body.toString('base64'),
      refused: own,
    };
  }
}

/** No phase was run, so no plan counts the call; the route that it may go to has a row of its own. */
const rowOf = ({ kind: _, verified, header_names, ...row }: InboundRecord): LogRow => ({
  ...row,
  ...{ route_id: null, matched_client_id: null, identification_method: verified ? 'webhook_signature' : null, method: 'POST' },
  ...{ environment: null, rate_limited: false, proxy_mode: INBOUND_MODE, client_origin: 'direct' },
  origin: row.upstream_status === null ? 'service' : 'upstream',
  user_agent: row.user_agent === null ? null : scrub(row.user_agent.slice(0, MAX_USER_AGENT)),
  attempts: row.upstream_ms === null ? 0 : 1,
  ...{ slug: null, route_name: null, client_name: null, signature_valid: verified, api_key_id: null, oauth_client_id: null, user_id: null },
  ...{ secrets_used: [], warnings: [], error_detail: null, payload_flags: null, node_id: hostname(), injected: [] },
  trace: { phases_ms: {}, latency_phase: 'complete', request_headers: header_names, response_headers: [], limits: {} },
});

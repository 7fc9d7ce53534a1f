import { RouteOrder } from '#server/domain/workflows/route-order.schema.ts';
import { openInFlight, type Transfer } from '#server/platform/in-flight.ts';
import { actingCaller } from '../core/acting-caller.ts';
import type { InProcess } from '../core/in-process.ts';
import type { Order } from '../core/orders.ts';
import type { Runtime } from '../core/runtime.ts';

const MOST_BYTES = 5 * 1024 * 1024;
/** Of the answers of all these calls in memory, until the worker has them. */
const MOST_IN_FLIGHT = 128 * 1024 * 1024;

/**
 * Calls of routes that nodes of workflows make: through the route plane in this process, with everything that holds for its calls, in the name of the workflow,
 * bound by the policies of everybody behind the run.
 * The worker has asked whether everybody behind the run may call the route. A workflow comes from no address, so a route that lets in only its clients, or
 * only some addresses, lets in none.
 */
export function workflowRequests(runtime: Runtime, routes: InProcess, baseHost: string): Order {
  const inFlight = openInFlight(MOST_IN_FLIGHT);
  return {
    async take(given) {
      const parsed = RouteOrder.safeParse(given);
      if (!parsed.success) return { status: 400, body: {} };
      const { data: order } = parsed;
      // A workspace of a moment ago may not have been announced here yet.
      if (!runtime.snapshots.byId(order.tenant_id)) await runtime.snapshots.refresh(order.tenant_id);
      const entry = runtime.snapshots.byId(order.tenant_id);
      if (!entry) return { status: 404, body: {} };
      const test = order.space === 'test';
      const [snapshot, otherSpace] = test ? [entry.test, entry.live] : [entry.live, entry.test];
      const { workflow_id: id, callers: subjects } = order;
      const caller = actingCaller({ id, label: `workflow ${id}`, subjects });
      let transfer: Transfer | undefined;
      const answer = await routes.send({
        ...{ snapshot, otherSpace, caller, method: order.method, target: order.target, body: order.body },
        headers: [
          ...order.headers.flat(),
          ...(order.environment === null ? [] : ['X-Svc-Environment', order.environment]),
          'Accept-Encoding',
          'identity',
        ],
        host: `${test ? 'sandbox-' : ''}${entry.row.slug}.${baseHost}`,
        sourceAddress: NOWHERE,
        hidesSecrets: true,
        requestId: order.request_id,
        timeoutMs: order.timeout_ms,
        maxBytes: MOST_BYTES,
        pace: (resume) => {
          transfer = inFlight.begin(order.body?.length ?? 0, resume);
          return transfer.received;
        },
      });
      const sent = () => transfer?.done();
      if (answer === null) return { status: 200, body: { answer: null }, sent };
      const headers = Object.fromEntries(Object.entries(answer.headers).filter(([, value]) => value !== undefined));
      const body = answer.body.toString('base64');
      return { status: 200, body: { answer: { status: answer.status, headers, body, cut: answer.cut } }, sent };
    },
    serves: () => false,
  };
}

/** In no list of addresses but one that allows all (RFC 1122 §3.2.1.3). */
const NOWHERE = '0.0.0.0';

import { randomBase62 } from '#server/crypto/random.ts';
import { patientRedactor } from '#server/custody/redaction/redaction.ts';
import { ProxyTestOrder, type ProxyTestReport } from '#server/domain/wrap/proxy-test.schema.ts';
import { type Call, newCall, subjectsOf } from '../core/call.ts';
import { deniedByPolicy } from '../core/denied-by-policy.ts';
import type { GatewayResponse } from '../core/gateway-response.ts';
import { limitWorkspaceRate } from '../core/limits.ts';
import { inspectHead } from '../core/listener.ts';
import type { Order } from '../core/orders.ts';
import { ownRequest, type Received } from '../core/own-request.ts';
import { Pipeline } from '../core/pipeline.ts';
import { ANSWERED, definePlane } from '../core/plane.ts';
import { refused, statusOf } from '../core/refusal.ts';
import { refusalAnswer } from '../core/response-block.ts';
import type { Runtime } from '../core/runtime.ts';
import { shownAnswer } from '../templates/shown-body.ts';
import { ended } from './ended.ts';
import { type EphemeralCall, type EphemeralState, newEphemeralState } from './ephemeral-call.ts';
import { loggedCall } from './logged-call.ts';
import { address } from './phases/address.ts';
import { findCredential } from './phases/find-credential.ts';
import { inspect } from './phases/inspect.ts';
import { open } from './phases/open.ts';
import { readBody } from './phases/read-body.ts';
import { resolveHost } from './phases/resolve-host.ts';
import { send } from './phases/send.ts';
import { preview } from './preview.ts';

/** Identifies a test inside this process. Headers that start with x-svc- never leave it. */
const TEST_HEADER = 'x-svc-proxy-test';

type Waiting = {
  order: ProxyTestOrder;
  call: EphemeralCall | null;
  placeholders: ProxyTestReport['placeholders'];
  /** Name -> value of what was opened: for masking, and dropped with the test. */
  secrets: ReadonlyMap<string, string>;
};

/**
 * Calls of the ephemeral proxy that a person tries from the dashboard: a real request through the real phases, in the person's name, or with a dry run as far
 * as nothing is opened. They are not counted against the month.
 */
export function proxyTests(runtime: Runtime, baseHost: string): Order {
  const waiting = new Map<string, Waiting>();
  const byCall = new WeakMap<Call, Waiting>();
  const testOf = (call: EphemeralCall) => byCall.get(call as Call);
  const plane = definePlane<EphemeralState>({
    name: 'proxy',
    matches: () => false,
    newState: newEphemeralState,
    phases: {
      inspect,
      admit: (call: EphemeralCall) => {
        call.admitted = true;
        if (!call.snapshot.tenant.servable) return refused('subscription_inactive', "This workspace's subscription is not active.");
        const policy = call.snapshot.policyDenying(subjectsOf(call), null);
        if (policy) return deniedByPolicy(call, policy, 'proxy:invoke');
        return call.test?.dry ? undefined : limitWorkspaceRate(call, runtime);
      },
      address,
      read_body: readBody,
      preview: (call: EphemeralCall) => {
        const test = testOf(call);
        if (test) test.placeholders = preview(call, runtime);
        return undefined;
      },
      find_credential: findCredential,
      stop: (call: EphemeralCall) => {
        if (!call.test?.dry) return undefined;
        call.res.writeHead(204).end();
        return ANSWERED;
      },
      resolve_host: resolveHost,
      open,
      note: (call: EphemeralCall) => {
        const test = testOf(call);
        if (test) test.secrets = call.state.resolution?.secrets ?? NOTHING;
        return undefined;
      },
      send,
    },
    refusalAnswer,
    logSubject: (call: EphemeralCall) => loggedCall(call, 'ephemeral'),
    ended,
  });
  const pipeline = new Pipeline(plane, runtime);
  return {
    async take(given: unknown, socketPath: string) {
      const parsed = ProxyTestOrder.safeParse(given);
      if (!parsed.success) return { status: 400, body: {} };
      const { data: order } = parsed;
      // Includes what the person saved a moment ago, on whichever node.
      await runtime.snapshots.refresh(order.tenant_id);
      const entry = runtime.snapshots.byId(order.tenant_id);
      if (!entry) return { status: 404, body: {} };
      const nonce = randomBase62(32);
      const test: Waiting = { order, call: null, placeholders: [], secrets: NOTHING };
      waiting.set(nonce, test);
      try {
        const body = Buffer.from(order.body ?? '');
        const headers = [TEST_HEADER, nonce, 'Host', `${entry.row.slug}.${baseHost}`, ...headersOf(order, body.length)];
        const received = await ownRequest(socketPath, { method: order.method, path: '/v1/proxy', headers, body });
        return { status: 200, body: await reportOf(test, received) };
      } finally {
        waiting.delete(nonce);
        test.secrets = NOTHING;
      }
    },
    serves(req, res: GatewayResponse) {
      const nonce = req.headers[TEST_HEADER];
      const test = typeof nonce === 'string' ? waiting.get(nonce) : undefined;
      if (!test) return false;
      const { order } = test;
      const entry = runtime.snapshots.byId(order.tenant_id);
      const head = inspectHead(req);
      if (!entry || !head.ok) {
        res.writeHead(400).end();
        return true;
      }
      const [snapshot, otherSpace] = order.space === 'test' ? [entry.test, entry.live] : [entry.live, entry.test];
      const { target, host } = head;
      const { request_id: requestId, source_address: sourceAddress, user_id: userId, dry_run: dry, callers: subjects } = order;
      const call = newCall({
        planeName: plane.name,
        state: newEphemeralState(),
        req,
        res,
        requestId,
        snapshot,
        otherSpace,
        target,
        sourceAddress,
        host,
        test: { userId, dry, subjects },
      });
      test.call = call;
      byCall.set(call as Call, test);
      pipeline.serve(call as Call);
      return true;
    },
  };
}

const NOTHING: ReadonlyMap<string, string> = new Map();
/** In place of a field that takes too long to search. */
const UNSEARCHED = '[withheld]';

/** What the person typed, behind the control headers that it stands for. Headers of ours and of the connection are not theirs to set. */
function headersOf({ url, headers, encrypted, secret, environment, method }: ProxyTestOrder, length: number): string[] {
  const typed = headers.filter(
    ({ name }) => !/^(?:x-svc-|host$|connection$|content-length$|transfer-encoding$|expect$|upgrade$)/i.test(name),
  );
  const names = new Set(typed.map(({ name }) => name.toLowerCase()));
  return [
    ...['Connection', 'close', 'X-Svc-Proxy-URL', url],
    ...(secret === undefined ? [] : ['X-Svc-Upstream-Auth-Secret', secret]),
    ...(environment === undefined ? [] : ['X-Svc-Environment', environment]),
    ...(encrypted === undefined ? [] : ['X-Svc-Encrypted', Buffer.from(encrypted).toString('base64')]),
    ...typed.flatMap(({ name, value }) => [name, value]),
    // A body that came compressed could not be searched for secrets.
    ...(names.has('accept-encoding') ? [] : ['Accept-Encoding', 'identity']),
    ...(length > 0 || method === 'POST' || method === 'PUT' || method === 'PATCH' ? ['Content-Length', String(length)] : []),
  ];
}

async function reportOf({ call, placeholders, secrets, order }: Waiting, received: Received | null): Promise<ProxyTestReport> {
  const refusal = call?.refusal;
  return {
    placeholders,
    refusal: call
      ? refusal
        ? { status: statusOf(refusal.code as never), code: refusal.code, message: refusal.message }
        : null
      : { status: 400, code: 'invalid_request', message: 'A header or the method of this call is malformed.' },
    response: received && !order.dry_run && call ? await answered(received, secrets) : null,
    latency_ms: Math.max(0, Math.round(call?.latencyMs ?? 0)),
    secrets_used: call?.secretsUsed ?? [],
  };
}

async function answered({ status, rawHeaders, body, cut }: Received, secrets: ReadonlyMap<string, string>) {
  const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, i) => ({
    name: rawHeaders[i * 2] ?? '',
    value: rawHeaders[i * 2 + 1] ?? '',
  }));
  const headers = pairs.filter(({ name }) => !/^(?:connection|keep-alive|transfer-encoding|date)$/i.test(name));
  const fields = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
  const redact = patientRedactor(secrets);
  // A header is bytes, which node reads as Latin-1.
  const text = async (field: string) => (await redact(Buffer.from(field, 'latin1')))?.toString('latin1') ?? UNSEARCHED;
  return {
    status,
    headers: await Promise.all(headers.map(async ({ name, value }) => ({ name: await text(name), value: await text(value) }))),
    ...(await shownAnswer({ bytes: body, fields, status, cut, redact: secrets.size > 0 ? redact : null })),
  };
}

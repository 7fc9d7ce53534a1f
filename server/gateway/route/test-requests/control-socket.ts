import { chmodSync, rmSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { randomBase62 } from '#server/crypto/random.ts';
import { digest, hasDigest } from '#server/crypto/tokens.ts';
import { TrialOrder } from '#server/domain/routes/trial/schema.ts';
import { log } from '#server/platform/log.ts';
import { ownedFolder } from '#server/platform/private-folder.ts';
import { newCall } from '../../core/call.ts';
import type { GatewayResponse } from '../../core/gateway-response.ts';
import { createListener, inspectHead } from '../../core/listener.ts';
import type { Handshakes, Order } from '../../core/orders.ts';
import type { Pipeline } from '../../core/pipeline.ts';
import { readBody } from '../../core/request-body.ts';
import { newRouteState } from '../route-call.ts';
import { type Made, reportOf } from './report.ts';
import { send } from './send.ts';
import { TestRequest } from './test-request.ts';

/** Identifies a test request inside this process. It never leaves it: headers that start with x-svc- are kept from upstreams. */
const TEST_HEADER = 'x-svc-test-request';
/** An event of 1 MiB in base64, with its headers. */
const MAX_ORDER = 1536 * 1024;

export type ControlSocketOptions = {
  /** Of the route plane. */
  pipeline: Pipeline;
  /** Shared with the web process. */
  token: string;
  /** Under which workspaces have their hosts. */
  baseHost: string;
  /** Handshakes, for connections through on-host agents. */
  handshakes?: Handshakes | undefined;
  /** Further orders, by their path. */
  orders?: ReadonlyMap<string, Order> | undefined;
};
export type ControlSocket = { listen(socket: string): Promise<void>; close(): Promise<void> };

/**
 * Control socket for test requests from the dashboard (interface rule 10 §15.2): a private socket that also asks for a token. An order becomes a real
 * request to the same socket, so that the code that serves every other call parses, judges, rewrites, sends, answers and logs it.
 */
export function createControlSocket({ pipeline, token, baseHost, handshakes, orders = new Map() }: ControlSocketOptions): ControlSocket {
  const { snapshots } = pipeline.runtime;
  const waiting = new Map<string, { order: TrialOrder; test: TestRequest; made: Made }>();
  let socket = '';
  const server: Server = createListener({
    upgrades: (req) => handshakes?.asks(req) ?? false,
    onUpgrade: (req, upgraded, head) => handshakes?.take(req, upgraded, head),
    onRequest: (req, res) => {
      const nonce = req.headers[TEST_HEADER];
      const found = typeof nonce === 'string' ? waiting.get(nonce) : undefined;
      if (found) return serveTest(pipeline, req, res, found);
      for (const order of orders.values()) if (order.serves(req, res)) return;
      take(req, res).catch((error: unknown) => {
        log.error({ err: error }, 'route test failed');
        answer(res, 500, {});
      });
    },
  });

  async function take(req: IncomingMessage, res: GatewayResponse): Promise<void> {
    const shown = req.headers['x-sallyport-front'];
    if (typeof shown !== 'string' || !hasDigest(shown, digest(token))) return answer(res, 403, {});
    const read = await readBody(req, MAX_ORDER, () => true);
    const other = orders.get(req.url ?? '');
    if (other) {
      if (read.state !== 'whole') return answer(res, 400, {});
      const { status, body, sent } = await other.take(parsed(read.body), socket);
      if (sent && res.closed) sent();
      else if (sent) res.once('close', sent);
      return answer(res, status, body);
    }
    const order = read.state === 'whole' ? TrialOrder.safeParse(parsed(read.body)) : undefined;
    if (!order?.success) return answer(res, 400, {});
    const { data } = order;
    // Includes what the person saved a moment ago, on whichever node.
    await snapshots.refresh(data.tenant_id);
    const entry = snapshots.byId(data.tenant_id);
    if (!entry) return answer(res, 404, {});
    const nonce = randomBase62(32);
    const test = new TestRequest(data.user_id, data.dry_run, data.callers);
    const made: Made = { call: null };
    waiting.set(nonce, { order: data, test, made });
    try {
      const host = `${data.space === 'test' ? 'sandbox-' : ''}${entry.row.slug}.${baseHost}`;
      const received = await send(socket, data, [TEST_HEADER, nonce, 'Host', host]);
      answer(res, 200, await reportOf(test, made, received));
    } finally {
      waiting.delete(nonce);
      test.secrets = new Map();
    }
  }

  return {
    async listen(at) {
      socket = at;
      ownedFolder('DATA_DIR', path.dirname(at));
      if (await isTaken(at)) throw new Error(`another gateway is already listening on ${at}`);
      rmSync(at, { force: true });
      const umask = process.umask(0o077); // only this account may connect
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(at, resolve)).finally(() => process.umask(umask));
      chmodSync(at, 0o600);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function serveTest(
  pipeline: Pipeline,
  req: IncomingMessage,
  res: GatewayResponse,
  { order, test, made }: { order: TrialOrder; test: TestRequest; made: Made },
) {
  const entry = pipeline.runtime.snapshots.byId(order.tenant_id);
  const head = inspectHead(req);
  if (!entry || !head.ok) {
    made.fault = head.ok ? 'This workspace no longer exists.' : head.message;
    return answer(res, 400, {});
  }
  const [snapshot, otherSpace] = order.space === 'test' ? [entry.test, entry.live] : [entry.live, entry.test];
  // Our own header is for neither the upstream nor the log.
  req.rawHeaders = req.rawHeaders.filter((_, i, all) => all[i - (i % 2)]?.toLowerCase() !== TEST_HEADER);
  const { target, host } = head;
  const state = newRouteState();
  state.test = test;
  const call = newCall({
    planeName: pipeline.plane.name,
    state,
    req,
    res,
    requestId: order.request_id,
    snapshot,
    otherSpace,
    target,
    sourceAddress: order.source_address,
    host,
    test,
  });
  made.call = call;
  pipeline.serve(call);
}

function answer(res: GatewayResponse, status: number, body: object): void {
  if (res.headersSent || res.destroyed) return;
  const text = JSON.stringify(body);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

const isTaken = (at: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(at, () => resolve(true)).on('error', () => resolve(false));
    probe.on('connect', () => probe.destroy());
  });

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { entitled } from '../entitled.ts';
import { type Row, say } from './report.ts';
import { install } from './service.ts';

const EVENTS = 2_000;
const WEBHOOKS = 5;
const BATCH = 500;
const BATCHES = 40;
/** Queued for a receiver that never answers, and events of the others beside it. */
const DEAD = 100_000;
const BESIDE = 200;

/** Webhooks end to end with a receiver in this process, and what an event of a call costs the gateway that writes its log row. */
export async function measureDeliveries(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  let received = 0;
  const receiver = createServer((req, res) => {
    req.resume().on('end', () => {
      received++;
      res.end();
    });
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  try {
    const operator = await import('../../server/domain/operator/service.ts');
    const { raise } = await import('../../server/domain/events/service.ts');
    const { createWebhook } = await import('../../server/domain/webhooks/service.ts');
    const { CreateWebhook } = await import('../../server/domain/webhooks/schema.ts');
    const { startDeliveries } = await import('../../server/domain/deliveries/service.ts');
    const { webhookChannel } = await import('../../server/domain/webhooks/channel.ts');
    const { inTransaction } = await import('../../server/kernel/database.ts');
    const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
    const ctx = entitled(operator.operatorCtx(tenant.id, 'test'));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    for (let n = 0; n < WEBHOOKS; n++)
      await createWebhook(ctx, CreateWebhook.parse({ name: `bench-${n}`, url, event_types: ['secret.rotated'] }));
    for (let n = 0; n < EVENTS / 100; n++)
      await inTransaction(ctx, (tx) =>
        raise(
          tx,
          ctx,
          Array.from({ length: 100 }, (_, i) => ({ type: 'secret.rotated', source_id: null, data: { i } }) as const),
        ),
      );
    const [began, before] = [performance.now(), process.cpuUsage()];
    const engine = startDeliveries({ webhook: webhookChannel() }, { pauseMs: 20 });
    const { db } = await import('../../server/platform/db.ts');
    while (received < EVENTS * WEBHOOKS) await new Promise((resolve) => setTimeout(resolve, 50));
    while ((await db().webhook_attempts.count({ where: { success: true } })) < EVENTS * WEBHOOKS)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const seconds = (performance.now() - began) / 1_000;
    const { user, system } = process.cpuUsage(before);
    const cpuSeconds = (user + system) / 1e6;
    await engine.stop();
    say(`${received} deliveries on record in ${seconds.toFixed(1)} s, with ${cpuSeconds.toFixed(1)} s of CPU`);

    const beside = await besideADeadReceiver(tenant.id);

    const quiet = await cpuOfRows(tenant.id);
    await createWebhook(ctx, CreateWebhook.parse({ name: 'calls', url, event_types: ['request.completed'] }));
    const told = await cpuOfRows(tenant.id);
    return [
      {
        what: `deliveries to ${WEBHOOKS} webhooks of a workspace, signed and logged`,
        measured: `${Math.round(received / seconds)} a second`,
        against: '',
        value: `${((seconds / received) * 1_000).toFixed(2)} ms each`,
        target: '500 a second',
        pass: received / seconds >= 500,
      },
      {
        what: 'the same, by CPU of the worker and of the receiver beside it in one process',
        measured: `${Math.round(received / cpuSeconds)} a second of CPU`,
        against: '',
        value: `${((cpuSeconds / received) * 1e6).toFixed(0)} us each`,
        target: '',
        pass: null,
      },
      {
        what: `p95 of an event beside ${grouped(DEAD)} deliveries that wait for a dead receiver`,
        measured: `${beside.crowded.toFixed(0)} ms`,
        against: `${beside.alone.toFixed(0)} ms without them`,
        value: `${(beside.crowded / beside.alone).toFixed(2)} x`,
        target: '1.5 x',
        pass: beside.crowded <= beside.alone * 1.5,
      },
      {
        what: 'an event of a call, CPU of the gateway that writes the log',
        measured: `${told.toFixed(1)} us a row`,
        against: `${quiet.toFixed(1)} us a row without a webhook`,
        value: `${(told - quiet).toFixed(1)} us more`,
        target: '',
        pass: null,
      },
    ];
  } finally {
    receiver.close();
    await installation.stop();
  }
}

const grouped = (n: number) => n.toLocaleString('en');

/** Milliseconds from an event to its arrival, 95th percentile, in another workspace: alone, and while a workspace's receiver holds every connection and its queue is full. */
async function besideADeadReceiver(crowdedTenant: string): Promise<{ alone: number; crowded: number }> {
  const operator = await import('../../server/domain/operator/service.ts');
  const { raise } = await import('../../server/domain/events/service.ts');
  const { createWebhook } = await import('../../server/domain/webhooks/service.ts');
  const { CreateWebhook } = await import('../../server/domain/webhooks/schema.ts');
  const { startDeliveries } = await import('../../server/domain/deliveries/service.ts');
  const { webhookChannel } = await import('../../server/domain/webhooks/channel.ts');
  const { inTransaction } = await import('../../server/kernel/database.ts');
  const { newId } = await import('../../server/kernel/ids.ts');
  const tenant = await operator.provisionTenant({ slug: 'beside', plan: 'enterprise', starter: false });
  const [ctx, crowd] = [entitled(operator.operatorCtx(tenant.id, 'test')), entitled(operator.operatorCtx(crowdedTenant, 'test'))];
  const arrivals = new Map<string, number>();
  const alive = createServer(async (req, res) => {
    const { data } = JSON.parse(Buffer.concat(await req.toArray()).toString());
    arrivals.set(data.n, performance.now());
    res.end();
  });
  // Takes what is sent and never answers.
  const dead = createServer(() => {});
  for (const server of [alive, dead]) await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const at = (server: typeof alive) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await createWebhook(ctx, CreateWebhook.parse({ name: 'alive', url: at(alive), event_types: ['secret.rotated'] }));
  const engine = startDeliveries({ webhook: webhookChannel() }, { pauseMs: 250 });
  const p95 = async (): Promise<number> => {
    const waits: number[] = [];
    for (let i = 0; i < BESIDE; i++) {
      const n = newId();
      const began = performance.now();
      await inTransaction(ctx, (tx) => raise(tx, { ...ctx, now: new Date() }, [{ type: 'secret.rotated', source_id: null, data: { n } }]));
      while (!arrivals.has(n)) await new Promise((resolve) => setTimeout(resolve, 2));
      waits.push((arrivals.get(n) as number) - began);
    }
    return waits.sort((a, b) => a - b)[Math.floor(BESIDE * 0.95)] as number;
  };
  try {
    await p95();
    const alone = await p95();
    // Two destinations: each may have 50,000 waiting.
    const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 1 });
    for (const name of ['dead-1', 'dead-2']) {
      const { id } = await createWebhook(
        crowd,
        CreateWebhook.parse({ name, url: at(dead), event_types: ['pki.certificate.expiring'], timeout_seconds: 60 }),
      );
      await inTransaction(crowd, (tx) =>
        raise(tx, { ...crowd, now: new Date() }, [{ type: 'pki.certificate.expiring', source_id: id, data: {} }]),
      );
      await pool.query(
        `insert into deliveries (id, tenant_id, sandbox, event_id, channel, destination_id, max_attempts, trigger)
         select gen_random_uuid(), tenant_id, sandbox, id, 'webhook', $1::uuid, 4, 'redelivery' from events, generate_series(1, ${DEAD / 2}) where source_id = $1::text`,
        [id],
      );
    }
    await pool.query('analyze deliveries');
    await pool.end();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return { alone, crowded: await p95() };
  } finally {
    await engine.stop();
    for (const server of [alive, dead]) {
      server.closeAllConnections();
      server.close();
    }
  }
}

/** Microseconds of CPU in this process for each row of the request log. */
async function cpuOfRows(tenantId: string): Promise<number> {
  const { insertRows } = await import('../../server/gateway/core/log/insert.ts');
  const { newId } = await import('../../server/kernel/ids.ts');
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 1 });
  const row = () =>
    ({
      ...{ request_id: newId(), tenant_id: tenantId, route_id: newId(), matched_client_id: null, identification_method: 'api_key' },
      ...{ method: 'GET', status_code: 200, src_ip: '203.0.113.9', environment: 'production', sandbox: true, ts: new Date().toISOString() },
      ...{ path: '/v1/orders', latency_ms: 12, upstream_host: 'api.example.com', error: null, rate_limited: false, proxy_mode: 'path' },
      ...{ client_origin: 'direct', origin: 'upstream', upstream_status: 200, upstream_ms: 11, attempts: 1, request_bytes: 0 },
      ...{ response_bytes: 512, slug: 'orders', route_name: 'orders', client_name: null, user_agent: 'bench', signature_valid: null },
      ...{
        api_key_id: null,
        oauth_client_id: null,
        user_id: null,
        secrets_used: [],
        warnings: [],
        error_detail: null,
        payload_flags: null,
      },
      ...{ node_id: 'bench', injected: [], trace: { text: '{}', pastLimits: true } },
    }) as unknown as Parameters<typeof insertRows>[1][number];
  const batches = Array.from({ length: BATCHES + 5 }, () => Array.from({ length: BATCH }, row));
  for (const warm of batches.splice(0, 5)) await insertRows(pool, warm);
  const before = process.cpuUsage();
  for (const batch of batches) await insertRows(pool, batch);
  const { user, system } = process.cpuUsage(before);
  await pool.end();
  return (user + system) / (BATCHES * BATCH);
}

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import test from 'node:test';
import { raise } from '#server/domain/events/service.ts';
import { startWorker } from '#server/jobs/worker.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { openHttp } from '#server/platform/connect/http.ts';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { addJob } from '#server/platform/queue.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Attempt, type Channel, httpChannel, recover, redeliver, startDeliveries } from './service.ts';

await ownDatabase();
const http = openHttp({ connections: 64 });
onFileEnd(() => http.close());

/** Delivers for the time of one piece of work. */
async function delivering(channels: Record<string, Channel>, work: () => Promise<unknown>, concurrency?: number) {
  const engine = startDeliveries(channels, { pauseMs: 50, ...(concurrency ? { concurrency } : {}) });
  try {
    await work();
  } finally {
    await engine.stop();
  }
}

/** A destination that is subscribed to one event type, on a channel of its own unless told, and a way to raise that. */
type Subscribed = { channel?: string; max_attempts?: number; type?: 'secret.rotated' | 'secret.expired' };
async function destination(ctx: Ctx, { channel = newId(), max_attempts = 4, type = 'secret.rotated' }: Subscribed = {}) {
  const destination_id = newId();
  const at = { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox };
  await db().event_subscriptions.create({
    data: { ...at, id: newId(), channel, destination_id, event_types: [type], max_attempts },
  });
  const send = (count = 1) =>
    inTransaction(ctx, (tx) =>
      raise(
        tx,
        ctx,
        Array.from({ length: count }, (_, n) => ({ type, source_id: null, data: { n } }) as const),
      ),
    );
  const rows = () => db().deliveries.findMany({ where: { destination_id }, orderBy: { created_at: 'asc' } });
  const due = () =>
    sql().query("update deliveries set next_attempt_at = now() where destination_id = $1 and state = 'pending'", [destination_id]);
  const states = async () => (await rows()).map(({ state }) => state).sort();
  return { channel, destination_id, send, rows, due, states };
}

/** A receiver on a real socket. */
async function receiver(answer: (req: IncomingMessage, res: ServerResponse) => void) {
  const seen: { attempt: Attempt; headers: IncomingMessage['headers']; at: number }[] = [];
  const port = await listen(
    createServer(async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      seen.push({ attempt: JSON.parse(Buffer.concat(chunks).toString()) as Attempt, headers: req.headers, at: Date.now() });
      answer(req, res);
    }),
  );
  const url = `http://127.0.0.1:${port}/hook`;
  const to = (target = url, timeoutMs = 30_000) =>
    httpChannel(http, async (attempt) => ({ url: target, method: 'POST', headers: {}, body: JSON.stringify(attempt), timeoutMs }));
  return { seen, to };
}
const answering = (...statuses: number[]) => {
  let n = 0;
  return receiver((_, res) => void res.writeHead(statuses[Math.min(n++, statuses.length - 1)] ?? 200).end());
};

test('500, 500, 200 are three attempts of one delivery, with the same event each time', async () => {
  const w = await workspace();
  const d = await destination(w.live);
  const { seen, to } = await answering(500, 500, 200);
  await d.send();
  await delivering({ [d.channel]: to() }, async () => {
    for (let n = 1; n <= 3; n++) {
      await until(() => seen.length === n, `attempt ${n}`);
      await until(async () => (await d.rows())[0]?.attempts === n, `its end`);
      const [row] = await d.rows();
      if (n < 3) assert.deepEqual([row?.state, row?.last_status, row?.last_error], ['pending', 500, 'http_status']);
      // The attempt ended between its arrival and now.
      const next = row!.next_attempt_at.getTime();
      if (n < 3) assert.ok(next - seen[n - 1]!.at >= [8, 48][n - 1]! * 1_000, `${next - seen[n - 1]!.at} ms after attempt ${n}`);
      if (n < 3) assert.ok(next - Date.now() <= [12, 72][n - 1]! * 1_000, `${next - Date.now()} ms from now`);
      await d.due();
    }
  });
  assert.deepEqual(await d.states(), ['succeeded']);
  assert.deepEqual(
    seen.map(({ attempt }) => attempt.number),
    [1, 2, 3],
  );
  const [first, ...others] = seen.map(({ attempt }) => [attempt.delivery_id, attempt.event]);
  for (const other of others) assert.deepEqual(other, first);
  assert.deepEqual(seen[0]?.attempt.event.data, { n: 0 });
});

test('a receiver that never takes it exhausts the delivery; one that is gone, or inside, is not asked again', async () => {
  const w = await workspace();
  const cases: [{ to: () => Channel }, string, number][] = [
    [await answering(503), 'http_status', 2],
    [await answering(410), 'http_status', 1],
    [
      { to: () => httpChannel(http, async () => ({ url: 'http://169.254.169.254/', method: 'POST', headers: {}, timeoutMs: 1_000 })) },
      'blocked_address',
      1,
    ],
    [
      { to: () => httpChannel(http, async () => ({ url: 'http://127.0.0.1:9/', method: 'POST', headers: {}, timeoutMs: 1_000 })) },
      'connect_error',
      2,
    ],
    [{ to: () => ({ deliver: () => Promise.reject(new Error('a fault of ours')) }) }, 'internal_error', 2],
  ];
  for (const [target, error, attempts] of cases) {
    const d = await destination(w.live, { max_attempts: 2 });
    await d.send();
    await delivering({ [d.channel]: target.to() }, () =>
      until(async () => {
        await d.due();
        return (await d.states()).join() === 'exhausted';
      }, `${error} ${attempts}`),
    );
    const [row] = await d.rows();
    assert.deepEqual([row?.last_error, row?.attempts], [error, attempts]);
    assert.ok(row?.finished_at);
  }
});

test('a receiver may ask to wait longer, for at most an hour', async () => {
  const w = await workspace();
  const in300 = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 300_000);
  for (const [header, least, most] of [
    ['120', 120, 120],
    [in300.toUTCString(), null, 301],
    ['999999', 3_600, 3_600],
  ] as const) {
    const d = await destination(w.live);
    const { seen, to } = await receiver((_, res) => void res.writeHead(429, { 'retry-after': header }).end());
    await d.send();
    await delivering({ [d.channel]: to() }, () => until(async () => (await d.rows())[0]?.attempts === 1, 'the attempt'));
    const next = (await d.rows())[0]!.next_attempt_at.getTime();
    // The attempt ended between its arrival and now; a date says when by itself, to the second.
    const [early, late] = [
      next - (least === null ? in300.getTime() - 1_000 : seen[0]!.at + least * 1_000),
      next - Date.now() - most * 1_000,
    ];
    assert.ok(early >= 0 && late <= 0, `${header}: ${early} ms after its least, ${late} ms after its most`);
  }
});

test('the attempt of a worker that died is made again with the same number; a stop gives running attempts back at once', async () => {
  const w = await workspace();
  const d = await destination(w.live);
  await d.send();
  const hanging: Channel = {
    deliver: (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off')))),
  };
  await delivering({ [d.channel]: hanging }, () => until(async () => (await d.states()).join() === 'in_flight', 'it runs'));
  assert.deepEqual([(await d.rows())[0]?.state, (await d.rows())[0]?.attempts], ['pending', 0]);
  await sql().query(
    "update deliveries set state = 'in_flight', locked_by = $2, locked_until = now() + interval '1 second' where destination_id = $1",
    [d.destination_id, newId()],
  );
  const { seen, to } = await answering(200);
  await delivering({ [d.channel]: to() }, () => until(async () => (await d.states()).join() === 'succeeded', 'it is made again'));
  assert.deepEqual(
    seen.map(({ attempt }) => attempt.number),
    [1],
  );
});

test('two engines at once make each attempt once', async () => {
  const w = await workspace();
  const d = await destination(w.live);
  await d.send(120);
  const { seen, to } = await answering(200);
  await delivering({ [d.channel]: to() }, () =>
    delivering({ [d.channel]: to() }, () =>
      until(async () => (await d.states()).filter((s) => s === 'succeeded').length === 120, 'all are delivered'),
    ),
  );
  assert.equal(new Set(seen.map(({ attempt }) => attempt.delivery_id)).size, 120);
  assert.equal(seen.length, 120);
});

test('receivers that hang delay neither other destinations and workspaces, nor mail', async (t) => {
  const [slow, other] = [await workspace(), await workspace()];
  const channel = newId();
  const stuck = await Promise.all(Array.from({ length: 8 }, () => destination(slow.live, { channel })));
  await stuck[0]?.send(60);
  const [good, elsewhere] = [await destination(slow.live, { channel, type: 'secret.expired' }), await destination(other.live, { channel })];
  const hangs = await receiver(() => {});
  const works = await answering(200);
  const ids = new Set([good.destination_id, elsewhere.destination_id]);
  const patient = 200_000;
  const both: Channel = {
    deliver: (attempt, signal) => (ids.has(attempt.destination_id) ? works : hangs).to(undefined, patient).deliver(attempt, signal),
  };

  const worker = startWorker();
  t.after(() => worker.stop(5_000));
  await worker.started;
  await delivering({ [channel]: both }, async () => {
    await until(() => hangs.seen.length >= 50, 'the receivers hang');
    const inFlight = await db().deliveries.groupBy({ by: ['destination_id'], where: { state: 'in_flight', channel }, _count: true });
    assert.ok(
      inFlight.every(({ _count }) => _count <= 10),
      'at most 10 to one destination',
    );
    assert.ok(inFlight.reduce((sum, { _count }) => sum + _count, 0) <= 60, 'at most 50 for one workspace, and one for each destination');

    const began = Date.now();
    await elsewhere.send(5);
    await good.send();
    const mail = newId();
    const [recipient, created_at] = ['waits@example.test', new Date(began - 120_000)];
    await db().mails.create({ data: { id: mail, recipient, kind: 'test', subject: 's', text: 't', html: null, created_at } });
    await addJob(null, 'retry_unsent_mails');
    await until(async () => (await db().mails.findUniqueOrThrow({ where: { id: mail } })).sent_at !== null, 'mail is sent');
    await until(async () => (await elsewhere.states()).every((s) => s === 'succeeded'), 'another workspace gets its events');
    await until(async () => (await good.states()).join() === 'succeeded', 'so does another destination of the same workspace');
    const hanging = { channel, destination_id: { in: stuck.map(({ destination_id }) => destination_id) } };
    assert.equal(await db().deliveries.count({ where: { ...hanging, attempts: { gt: 0 } } }), 0, 'none of those that hang has ended');
  });
});

test('what nobody wants any more, or what is too old, is dropped', async () => {
  const [off, old] = [await destination((await workspace()).live), await destination((await workspace()).live)];
  const { seen, to } = await answering(200);
  for (const d of [off, old]) {
    await d.send();
    await delivering({}, () => until(async () => (await d.rows()).length === 1, 'it is queued'));
  }
  await db().event_subscriptions.updateMany({ where: { destination_id: off.destination_id }, data: { enabled: false } });
  await sql().query('update events set expires_at = now() where id = $1', [(await old.rows())[0]!.event_id]);
  await delivering({ [off.channel]: to(), [old.channel]: to() }, () =>
    until(async () => [...(await off.states()), ...(await old.states())].join() === 'dropped,dropped', 'both are dropped'),
  );
  assert.deepEqual(seen, []);
});

test('a finished delivery is delivered again on request, and what failed is recovered once', async () => {
  const w = await workspace();
  const d = await destination(w.live, { max_attempts: 1 });
  await d.send(3);
  const failing = await answering(500);
  await delivering({ [d.channel]: failing.to() }, () =>
    until(async () => (await d.states()).join() === 'exhausted,exhausted,exhausted', 'all failed'),
  );
  const [first] = await d.rows();
  const window = {
    channel: d.channel,
    destination_id: d.destination_id,
    since: new Date(Date.now() - 60_000),
    until: new Date(Date.now() + 60_000),
  };
  const again = await inTransaction(w.live, (tx) => redeliver(tx, w.live, first!.id));
  assert.equal(again?.event_id, first!.event_id);
  assert.equal(await inTransaction(w.test, (tx) => redeliver(tx, w.test, first!.id)), null, 'not from the other space');
  assert.equal(await inTransaction(w.live, (tx) => redeliver(tx, w.live, again!.delivery_id)), null, 'not while it is on its way');
  assert.equal(await inTransaction(w.live, (tx) => recover(tx, w.live, window)), 2);
  assert.equal(await inTransaction(w.live, (tx) => recover(tx, w.live, window)), 0);
  const { seen, to } = await answering(200);
  await delivering({ [d.channel]: to() }, () =>
    until(async () => (await d.states()).filter((s) => s === 'succeeded').length === 3, 'all three arrive'),
  );
  assert.deepEqual(seen.map(({ attempt }) => attempt.trigger).sort(), ['recover', 'recover', 'redelivery']);
});

test('an audit entry arrives with the fields of its entry', async () => {
  const w = await workspace();
  const { seen, to } = await answering(200);
  const channel = newId();
  const at = { tenant_id: w.tenant.id, sandbox: false };
  await db().event_subscriptions.create({ data: { ...at, id: newId(), channel, destination_id: newId(), event_types: ['audit.event'] } });
  const { audited, mutate } = await import('#server/kernel/mutate.ts');
  const resource_id = newId();
  await mutate(w.live, async () => audited(undefined, { action: 'update', resource_type: 'route', resource_id, name: 'a route' }));
  await delivering({ [channel]: to() }, () => until(() => seen.length === 1, 'it arrives'));
  const { id, details, ...data } = seen[0]!.attempt.event.data as { id: string; details: { name: string } };
  assert.deepEqual(data, { action: 'update', resource_type: 'route', resource_id, ip_address: '127.0.0.1' });
  assert.equal(details.name, 'a route');
  assert.equal(await db().audit_logs.count({ where: { id } }), 1);
});

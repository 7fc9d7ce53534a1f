import pg from 'pg';
import { entitled } from '../entitled.ts';
import { median } from './machine.ts';
import { type Bench, type Measured, measure, type Shape } from './proxies.ts';
import { micros, type Row, say } from './report.ts';
import { KEEPING } from './workspace.ts';

const rounds = 5;
const shape: Shape = { connections: 32, seconds: 4 };
const EACH = ['request.completed', 'request.success'];

/** CPU of a small GET while a webhook wants two events of every call, beside the same call while it is off, in alternating rounds. */
export async function measureCallEvents({ proxies, directory }: Bench): Promise<Row[]> {
  const ours = proxies.get('sallyport');
  if (!ours) throw new Error('the gateway is not among the proxies');
  const { db } = await import('../../server/platform/db.ts');
  const { operatorCtx } = await import('../../server/domain/operator/service.ts');
  const { createWebhook } = await import('../../server/domain/webhooks/service.ts');
  const { CreateWebhook } = await import('../../server/domain/webhooks/schema.ts');
  const { tenant_id } = await db().routes.findFirstOrThrow({ where: { slug: KEEPING } });
  const input = { name: 'calls', url: 'https://receiver.example.com/', event_types: EACH, filters: { methods: ['GET'] } };
  const { id } = await createWebhook(entitled(operatorCtx(tenant_id, 'live')), CreateWebhook.parse(input));
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  try {
    const results = { off: [] as Measured[], on: [] as Measured[] };
    let told = 0;
    for (let round = 0; round <= rounds; round++)
      for (const state of ['off', 'on'] as const) {
        await client.query('update event_subscriptions set enabled = $2 where destination_id = $1', [id, state === 'on']);
        const result = await measure(ours, '/small', round === 0 ? { ...shape, seconds: 10 } : shape, directory);
        await settled(client);
        if (round === 0) continue;
        results[state].push(result);
        if (state === 'on') told += result.requests;
        say(`events of calls ${state}, round ${round}: ${micros(result.cpu)}`);
      }
    const { rows } = await client.query<{ n: number }>('select count(*)::int as n from events where tenant_id = $1', [tenant_id]);
    if ((rows[0]?.n ?? 0) < told * EACH.length) throw new Error(`${rows[0]?.n} events were raised for ${told} calls.`);
    const cpu = (of: readonly Measured[]) => median(of.map((one) => one.cpu));
    const more = median(results.on.map((one, round) => one.cpu / (results.off[round]?.cpu ?? Number.NaN))) - 1;
    return [
      {
        what: `small GET with ${EACH.length} events for a webhook, CPU a call`,
        measured: micros(cpu(results.on)),
        against: `${micros(cpu(results.off))} without`,
        value: `${(more * 100).toFixed(1)} % more`,
        target: '<= 3 % an event',
        pass: more <= 0.03 * EACH.length,
      },
    ];
  } finally {
    await client.end();
  }
}

/** The log is written behind the calls: the webhook is switched only when nothing came for a second. */
async function settled(client: pg.Client): Promise<void> {
  const newest = async () => (await client.query<{ id: string | null }>('select max(id)::text as id from request_logs')).rows[0]?.id;
  for (let last = await newest(), next: typeof last; ; last = next) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    next = await newest();
    if (next === last) return;
  }
}

// npm run seed   a workspace to play with: playground, in Test, with environments, secrets, clients, a collection and routes, and calls
//                through them while the service runs. Safe to run twice.

import { ECHO_ORIGIN } from '../server/kernel/echo-origin.ts';
import { parseEnv } from '../server/platform/env.ts';
import { fail, Problem } from './command.ts';
import { openDatabase } from './open-database.ts';
import { generateClient, migrate } from './schema.ts';
import { makeCalls } from './seed-calls.ts';

if (parseEnv(process.env).NODE_ENV === 'production')
  fail(new Problem("The seed creates an account with a publicly known password, so it doesn't run in production."));
process.env.LOG_LEVEL ??= 'warn';
await generateClient();
const database = await openDatabase();
await migrate(database.url);
const { checkRootKey } = await import('../server/domain/keys/root-check.ts');
await checkRootKey();
const { perform } = await import('../server/api/perform.ts');
const { operations } = await import('../server/api/operations.ts');
const { provisionTenant, createKey, operatorCtx } = await import('../server/domain/operator/service.ts');
const { CAPABILITIES } = await import('../server/kernel/capabilities.ts');
const { closeDb, db } = await import('../server/platform/db.ts');
const { env } = await import('../server/platform/env.ts');

const slug = 'playground';
const owner = { email: 'dana@example.com', password: 'a workspace to play with' };
if (await isSomebodyElses()) fail(new Problem(`A workspace ${slug} that the seed did not create already exists. It was left unchanged.`));
const tenant = await provisionTenant({ slug, name: 'Playground', owner_email: owner.email, owner_password: owner.password });
const base = operatorCtx(tenant.id, 'test');
const ctx = { ...base, actor: { ...base.actor, capabilities: new Set(CAPABILITIES) } };

if (tenant.created) {
  await make('environments.create', { name: 'staging', color: '#f59e0b' });
  const collection = await make('collections.create', { name: 'Payments', description: 'Everything that moves money' });
  const id = String(collection.id);
  await make('collections.variables.create', { id, key: 'region', type: 'value', value: 'eu' });
  const stripe = await make('secrets.create', { name: 'STRIPE_KEY', value: 'not-a-real-key-1', collection_id: id, tags: ['payments'] });
  await make('secrets.put_value', { id: stripe.id, value: 'not-a-real-key-2', environment: 'staging' });
  await make('secrets.create', { name: 'WEATHER_TOKEN', value: 'not-a-real-token', expires_at: '2027-01-01T00:00:00Z' });
  const office = await make('clients.create', { name: 'Office', type: 'user', ip_address: '203.0.113.0/24' });
  const charges = await make('routes.create', {
    name: 'Charges',
    target_base_url: `${ECHO_ORIGIN}/v1`,
    collection_id: id,
    inject_headers_json: { Authorization: `Bearer {{secret_id:${String(stripe.id)}}}` },
    rate_limit_enabled: true,
    rate_limit_requests: 100,
    rate_limit_window_sec: 60,
  });
  await make('routes.environments.put', { id: charges.id, env: 'staging', target_base_url: `${ECHO_ORIGIN}/staging/v1` });
  await make('routes.clients.set', { id: charges.id, env: 'production', client_ids: [office.id] });
  await make('routes.create', {
    name: 'Weather',
    target_base_url: ECHO_ORIGIN,
    inject_query_json: { key: '{{secret:WEATHER_TOKEN}}' },
    allowed_methods: ['GET'],
    rate_limit_enabled: true,
    rate_limit_requests: 10,
    rate_limit_window_sec: 60,
  });
}
const key = await createKey({ slug, space: 'test', role: 'Key - Infrastructure', name: 'seed' });
const calls = await makeCalls(key.proxy_url, key.api_key);
console.log(`
Workspace ${slug} is ready${tenant.created ? '' : ' (it already existed)'}.
  Sign in      ${owner.email} / ${owner.password}
  Test key     ${key.api_key}
  First call   curl ${key.proxy_url}/echo/hello -H "X-Svc-Key: ${key.api_key}"
  Calls        ${
    'problem' in calls
      ? `none were sent: ${calls.problem}. Run this again while npm start is running to fill the log and the charts.`
      : `${calls.answered} succeeded and ${calls.refused} were refused: ${env.PUBLIC_ADMIN_URL}/${slug}/test/logs`
  }
`);
await closeDb();
await database.release();

/** Nobody gets an owner with a well-known password into a workspace of their own. */
async function isSomebodyElses(): Promise<boolean> {
  const found = await db().tenants.findUnique({ where: { slug } });
  if (!found) return false;
  const ours = { tenant_id: found.id, role: 'owner', removed_at: null, user: { email: owner.email } };
  return (await db().memberships.findFirst({ where: ours })) === null;
}

async function make(id: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const op = operations.find((o) => o.id === id);
  if (!op) throw new Error(`no operation ${id}`);
  return (await perform(op, { ...ctx, now: new Date() }, input)).output as Record<string, unknown>;
}

// npm run seed   a workspace to play with: playground, in Test, with environments, secrets, clients, a collection and routes, and calls
//                through them while the service runs. Safe to run twice.

import { parseEnv } from '../server/platform/env.ts';
import { fail, failInWords, Problem } from './command.ts';
import { entitled } from './entitled.ts';
import { openDatabase } from './open-database.ts';
import { generateClient, migrate } from './schema.ts';
import { makeCalls } from './seed-calls.ts';
import { seedsOf } from './seeds.ts';

failInWords();
if (parseEnv(process.env).NODE_ENV === 'production')
  fail(new Problem("The seed creates an account with a publicly known password, so it doesn't run in production."));
process.env.LOG_LEVEL ??= 'warn';
await generateClient();
const database = await openDatabase({ creates: true });
await migrate(database.url);
const { checkRootKey } = await import('../server/domain/keys/root-check.ts');
await checkRootKey();
const { perform } = await import('../server/api/perform.ts');
const { operations } = await import('../server/api/operations.ts');
const { families } = await import('../server/domain/families.ts');
const { provisionTenant, createKey, operatorCtx, setMember } = await import('../server/domain/operator/service.ts');
const { closeDb, db } = await import('../server/platform/db.ts');
const { env } = await import('../server/platform/env.ts');

const slug = 'playground';
const owner = { email: 'dana@example.com', password: 'a workspace to play with' };
if (await isSomebodyElses()) fail(new Problem(`A workspace ${slug} that the seed did not create already exists. It was left unchanged.`));
const tenant = await provisionTenant({ slug, name: 'Playground', owner_email: owner.email, owner_password: owner.password });
const ctx = entitled(operatorCtx(tenant.id, 'test'));

if (tenant.created) {
  await setMember({ slug, email: 'sam@example.com', role: 'editor', name: 'Sam Rivera' }, families);
  const ids: Record<string, string> = {};
  for (const { run } of await seedsOf(families)) await run(make, ids);
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

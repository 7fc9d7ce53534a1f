import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ListSecrets } from './schema.ts';
import { listSecrets } from './service.ts';

await testDatabase();
const DAY = 86_400_000;
const COUNT = 2_500;
/** In days from now; null is never. */
const DATES = [null, -1, 3, 6.9, 7.1, 40, null];

type Kept = { id: string; name: string; own: number | null; overrides: (number | null)[] };

/** Secrets with up to three environments, each with or without a date of its own; `every` thins out those that end at all. */
async function filled(tenantId: string, every: number): Promise<Kept[]> {
  const kept = Array.from({ length: COUNT }, (_, i): Kept => {
    const dated = i % every === 0;
    const overrides = Array.from({ length: i % 4 }, (_, k) => (dated ? (DATES[Math.floor(i / 7 ** k) % DATES.length] ?? null) : null));
    return {
      id: crypto.randomUUID(),
      name: `S${String(i).padStart(5, '0')}`,
      own: dated ? (DATES[(i * 5) % DATES.length] ?? null) : null,
      overrides,
    };
  });
  const at = (days: number | null) => (days === null ? null : new Date(Date.now() + days * DAY).toISOString());
  await sql().query(
    `insert into secrets (id, tenant_id, sandbox, name, shortcode_name, expires_at, updated_at)
      select id, $1, false, name, name, expires_at, now() from jsonb_to_recordset($2::jsonb) as r(id uuid, name text, expires_at timestamptz)`,
    [tenantId, JSON.stringify(kept.map(({ id, name, own }) => ({ id, name, expires_at: at(own) })))],
  );
  await sql().query(
    `insert into secret_environments (id, tenant_id, sandbox, secret_id, environment_name, expires_at_override, updated_at)
      select gen_random_uuid(), $1, false, secret_id, environment_name, at, now() from jsonb_to_recordset($2::jsonb) as r(secret_id uuid, environment_name text, at timestamptz)`,
    [
      tenantId,
      JSON.stringify(
        kept.flatMap(({ id, overrides }) => overrides.map((days, k) => ({ secret_id: id, environment_name: `e${k}`, at: at(days) }))),
      ),
    ],
  );
  await sql().query('analyze secrets, secret_environments');
  return kept;
}

/** An environment ends on its own date, or on the secret's where it has none; a secret without environments on its own. */
const endsWithin = ({ own, overrides }: Kept, days: number): boolean =>
  (overrides.length === 0 ? [own] : overrides.map((date) => date ?? own)).some((date) => date !== null && date <= days);

for (const [what, every] of [
  ['most of', 1],
  ['few of', 60],
] as const)
  test(`the secrets that end soon are those with an environment that does, when they are ${what} all, on every page`, async () => {
    const w = await workspace({ plan: 'enterprise' });
    const kept = await filled(w.tenant.id, every);
    await filled((await workspace()).tenant.id, 1);
    for (const days of [1, 7, 30, 365])
      for (const q of [undefined, '00', '7'])
        for (const order of ['asc', 'desc'] as const) {
          const wanted = kept.filter((secret) => endsWithin(secret, days) && secret.name.includes(q ?? '')).map(({ name }) => name);
          if (order === 'desc') wanted.reverse();
          for (const page of [1, Math.max(1, Math.ceil(wanted.length / 40))]) {
            const got = await listSecrets(
              { ...w.live, now: new Date() },
              ListSecrets.parse({ expiring_within_days: String(days), order, page, per_page: 20, ...(q ? { q } : {}) }),
            );
            const asked = JSON.stringify({ days, q, order, page });
            assert.equal(got.total, wanted.length, asked);
            assert.deepEqual(
              got.rows.map(({ name }) => name),
              wanted.slice((page - 1) * 20, page * 20),
              asked,
            );
          }
        }
    assert.equal((await listSecrets(w.test, ListSecrets.parse({ expiring_within_days: '365' }))).total, 0);
  });

import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';
import { type KeyRow, keyByRef, versionsOf } from './store.ts';
import { tokensUnder, usersOf } from './usage.ts';

/** From here on a key should be rotated: at twice as many, equal random IVs become likely (NIST SP 800-38D). */
const MANY_ENCRYPTIONS = 2 ** 31;
const DAYS = 30;

/** Every key of the space, by name. */
export const listCryptoKeys = (ctx: Ctx) =>
  read(
    ctx,
    (tx) =>
      tx.crypto_keys.findMany({ where: { ...own(ctx), deleted_at: null }, orderBy: [{ name: 'asc' }, { id: 'asc' }] }) as Promise<KeyRow[]>,
  );

/** One key with its versions, newest first. Warns when the active version has encrypted too often. @throws Refusal not_found */
export function getCryptoKey(ctx: Ctx, { name }: { name: string }) {
  return read(ctx, async (tx) => {
    const key = await keyByRef(tx, ctx, name);
    const versions = await versionsOf(tx, ctx, key.id);
    const active = versions.find((v) => v.status === 'active');
    if (key.key_type === 'aes256-gcm' && active && Number(active.encrypt_count) >= MANY_ENCRYPTIONS)
      ctx.warnings.push(
        `Version ${active.version} of ${key.name} has encrypted more than 2^31 times. Rotate the key. At 2^32 it is rotated automatically.`,
      );
    return {
      ...key,
      jwks_url: await jwksUrlOf(tx, ctx, key),
      versions: versions.map((v) => ({ ...v, encrypt_count: Number(v.encrypt_count) })),
    };
  });
}

/** Where anybody reads the public key set; null while it is off. */
async function jwksUrlOf(tx: Tx, ctx: Ctx, key: KeyRow): Promise<string | null> {
  if (!key.jwks_public) return null;
  const { slug } = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
  return `${env.PUBLIC_API_URL}/pub/${slug}/${spaceOf(ctx.sandbox) === 'test' ? 'test/' : ''}jwks/${key.id}.json`;
}

type UsageRow = { id: string; rotated_at: Date; live_versions: number; encryptions: number; uses: number };

/** What the list shows of each key beside the key itself; uses since the beginning of the month (UTC). */
export const usageOfKeys = (ctx: Ctx): Promise<UsageRow[]> =>
  read(
    ctx,
    (tx) => tx.$queryRaw<UsageRow[]>`
      select k.id, v.rotated_at, v.live_versions, coalesce(u.encryptions, 0)::float8 as encryptions, coalesce(u.uses, 0)::float8 as uses
      from crypto_keys k
      cross join lateral (select max(created_at) filter (where status = 'active') as rotated_at, count(*) filter (where status <> 'destroyed')::int as live_versions
        from crypto_key_versions where key_id = k.id) v
      cross join lateral (select sum(n) filter (where operation = 'encrypt') as encryptions, sum(n) as uses
        from crypto_key_uses where key_id = k.id and day >= date_trunc('month', ${ctx.now}::timestamptz at time zone 'UTC')::date) u
      where k.tenant_id = ${ctx.tenant_id}::uuid and k.sandbox = ${ctx.sandbox} and k.deleted_at is null order by k.name, k.id`,
  );

/** The last 30 days of one key, and what would stop working without it. @throws Refusal not_found */
export function activityOfKey(ctx: Ctx, { name }: { name: string }) {
  return read(ctx, async (tx) => {
    const key = await keyByRef(tx, ctx, name);
    const since = new Date(ctx.now.getTime() - (DAYS - 1) * 24 * 3_600_000);
    since.setUTCHours(0, 0, 0, 0);
    const rows = await tx.crypto_key_uses.findMany({
      where: { ...own(ctx), key_id: key.id, day: { gte: since } },
      orderBy: { day: 'asc' },
    });
    const days = [...Map.groupBy(rows, ({ day }) => day.toISOString().slice(0, 10))].map(([day, uses]) => ({
      day,
      operations: Object.fromEntries(uses.map(({ operation, n }) => [operation, Number(n)])),
    }));
    const live = (await versionsOf(tx, ctx, key.id)).filter(({ status }) => status !== 'destroyed');
    const tokens = await Promise.all(live.map(async ({ version }) => ({ version, count: await tokensUnder(tx, ctx, key.id, version) })));
    return { days, used_by: await usersOf(tx, ctx, key.id), tokens: tokens.filter(({ count }) => count > 0) };
  });
}

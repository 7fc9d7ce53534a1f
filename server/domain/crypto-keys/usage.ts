import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** What names the key and would stop working without it, as a person calls it. */
export async function usersOf(tx: Tx, ctx: Ctx, keyId: string): Promise<string[]> {
  const vaults = await tx.vaults.findMany({
    where: { ...own(ctx), crypto_key_id: keyId, deleted_at: null },
    orderBy: { name: 'asc' },
    select: { name: true },
  });
  const routes = await tx.$queryRaw<{ name: string }[]>`
    select r.name from crypto_keys k join routes r on r.tenant_id = k.tenant_id and r.sandbox = k.sandbox
    where k.id = ${keyId}::uuid and k.tenant_id = ${ctx.tenant_id}::uuid and k.sandbox = ${ctx.sandbox} and (
      exists (select from route_environment_configs c where c.route_id = r.id and (c.upstream_auth #>> '{}')::json->>'key_name' = k.name)
      or exists (select from route_field_actions a
        where a.route_id = r.id and a.action in ('encrypt', 'decrypt', 'sign') and a.key_name in (k.name, k.id::text)))
    order by r.name`;
  const webhooks = await tx.webhooks.findMany({
    where: { ...own(ctx), hmac_key_id: keyId },
    orderBy: { name: 'asc' },
    select: { name: true },
  });
  return [
    ...vaults.map(({ name }) => `vault ${name}`),
    ...webhooks.map(({ name }) => `webhook ${name}`),
    ...routes.map(({ name }) => `route ${name}`),
  ];
}

/** How many values of vaults are sealed under a version of the key, or under any. Nothing opens them once it is destroyed. */
export const tokensUnder = (tx: Tx, ctx: Ctx, keyId: string, version?: number): Promise<number> =>
  tx.vault_tokens.count({
    where: {
      ...own(ctx),
      vault: { crypto_key_id: keyId },
      deleted_at: null,
      ...(version === undefined ? {} : { crypto_key_version: version }),
    },
  });

import { scopesOfKey } from '#server/kernel/capabilities.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { GrantType } from './grants.shared.ts';
import type { ClientType } from './redirect-uris.shared.ts';
import type { ClientRow } from './store.ts';

/** Rows as lists show them: with their last use, and the clients of API keys with what their key's roles allow. */
export async function rowsOf(tx: Tx, ctx: Ctx, rows: readonly ClientRow[]) {
  const keyIds = rows.flatMap(({ source_api_key_id }) => source_api_key_id ?? []);
  const keys = await tx.api_keys.findMany({
    where: { ...own(ctx), id: { in: keyIds } },
    select: { id: true, role_ids: true, scoped: true, scopes: true, expires_at: true, revoke_at: true },
  });
  const keyById = new Map(keys.map((key) => [key.id, key]));
  const used = await tx.credential_usage.findMany({ where: { ...own(ctx), id: { in: rows.map(({ id }) => id) } } });
  const usedAt = new Map(used.map(({ id, last_used_at }) => [id, last_used_at]));
  const bindings = await tx.oauth_trust_bindings.groupBy({
    by: ['client_row_id'],
    where: { ...own(ctx), client_row_id: { in: rows.map(({ id }) => id) } },
    _count: true,
  });
  const bindingCount = new Map(bindings.map(({ client_row_id, _count }) => [client_row_id, _count]));
  return rows.map((row) => {
    const key = row.source_api_key_id === null ? undefined : keyById.get(row.source_api_key_id);
    const ended = key && [key.expires_at, key.revoke_at].find((at) => at !== null && at <= ctx.now);
    return {
      ...row,
      type: row.type as ClientType,
      grant_types: row.grant_types as GrantType[],
      allowed_scopes: key ? [...scopesOfKey(key)] : row.allowed_scopes,
      require_pkce: true as const,
      token_format: 'opaque' as const,
      active: row.active && !ended,
      system_role: row.system_role as 'cli' | null,
      last_used_at: usedAt.get(row.id) ?? null,
      trust_binding_count: bindingCount.get(row.id) ?? 0,
    };
  });
}

/** One row with its details. Never a secret: only when the one or two that work were made and end. */
export async function detailOf(tx: Tx, ctx: Ctx, row: ClientRow) {
  const [shown] = await rowsOf(tx, ctx, [row]);
  const [current, previous] = await tx.oauth_client_secrets.findMany({
    where: { ...own(ctx), client_row_id: row.id, revoked_at: null, OR: [{ expires_at: null }, { expires_at: { gt: ctx.now } }] },
    orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
    select: { created_at: true, expires_at: true },
  });
  return {
    ...(shown as NonNullable<typeof shown>),
    secret_created_at: current?.created_at ?? null,
    previous_secret_expires_at: previous?.expires_at ?? null,
    created_by: row.created_by as { kind: string; id: string | null; label: string } | null,
  };
}

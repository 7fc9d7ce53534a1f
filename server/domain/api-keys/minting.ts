import { mintAccessKey, mintApiKey } from '#server/crypto/tokens.ts';
import { auditActor, type Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';

const SHOWN_ONCE = "Store this API key now. It won't be shown again.";

export type NewKey = {
  name: string;
  access: boolean;
  role_ids: string[];
  scopes: string[] | null;
  expires_at: Date | null;
  ip_allowlist: string[];
  rate_limit_requests: number | null;
  rate_limit_window_sec: number | null;
  replaces_key_id?: string;
  created_by?: { kind: string; id: string | null; label: string };
};

/** Mints and stores a key inside the caller's transaction; sign-up and the operator use it too. The caller audits. */
export async function insertKey(tx: Tx, ctx: Pick<Ctx, 'tenant_id' | 'sandbox' | 'actor' | 'now'>, input: NewKey) {
  const minted = input.access ? mintAccessKey() : mintApiKey(ctx.sandbox ? 'test' : 'live');
  const row = await tx.api_keys.create({
    data: {
      id: newId(),
      tenant_id: ctx.tenant_id,
      sandbox: ctx.sandbox,
      key_id: minted.key_id,
      key_prefix: minted.key_prefix,
      digest: new Uint8Array(minted.digest),
      key_type: input.access ? 'access_key' : ctx.sandbox ? 'test' : 'standard',
      name: input.name,
      role_ids: input.role_ids,
      scopes: input.scopes ?? [],
      scoped: input.scopes !== null,
      expires_at: input.expires_at,
      ip_allowlist: input.ip_allowlist,
      rate_limit_requests: input.rate_limit_requests,
      rate_limit_window_sec: input.rate_limit_window_sec,
      replaces_key_id: input.replaces_key_id ?? null,
      created_by: input.created_by ?? creator(ctx),
      created_at: ctx.now,
      updated_at: ctx.now,
    },
  });
  return {
    id: row.id,
    key_id: row.key_id,
    api_key: minted.token,
    key_prefix: row.key_prefix,
    key_type: row.key_type as 'standard' | 'test' | 'access_key',
    name: row.name,
    role_ids: row.role_ids,
    scopes: row.scoped ? row.scopes : null,
    expires_at: row.expires_at,
    message: SHOWN_ONCE,
  };
}

/** The first key of a workspace is made by no caller. */
function creator({ actor }: Pick<Ctx, 'actor'>) {
  const { type, id, label, user } = auditActor(actor);
  // It is the person's key: it is reviewed when they leave, whichever application made it.
  if (user) return { kind: 'user', ...user };
  return { kind: type === 'system' ? 'signup' : type, id, label };
}

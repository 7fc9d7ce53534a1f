import { newMaterial } from '#server/crypto/transit/new-material.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownSql } from '#server/platform/sql.ts';
import { auditRow } from './audit-rows.ts';
import { sealedOrRefused } from './material.ts';

/** The key that values are sealed for when a call names none (interface rule 41 §1). The service owns it: it can be rotated, not deleted. */
export const DEFAULT_SEALING_KEY = 'kc-default';

/**
 * Makes the space's default key, unless somebody did meanwhile. Key, version and audit entry come by one statement, so there are all of them or none.
 * @throws Refusal tenant_sealed
 */
export async function makeDefaultKey(ctx: HotCtx): Promise<void> {
  const [id, versionId] = [newId(), newId()];
  const { secret, spki } = await newMaterial('ecdh-p256');
  const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'transit_key' as const, row_id: versionId };
  try {
    const sealed = await keyring().sealValue(place, secret).catch(sealedOrRefused);
    const entry = auditRow(ctx, {
      action: 'create',
      resource_type: 'crypto_key',
      resource_id: id,
      name: DEFAULT_SEALING_KEY,
      details: { key_type: 'ecdh-p256', mode: 'cloud-only', managed_by: 'service', key_version: 1 },
    });
    await ownSql().query({
      name: 'custody-default-key',
      text: MAKE,
      values: [
        ctx.tenant_id,
        ctx.sandbox,
        id,
        DEFAULT_SEALING_KEY,
        versionId,
        sealed.value_ct,
        sealed.cek_wrapped,
        sealed.tmk_version,
        spki,
        ctx.now,
        JSON.stringify([entry]),
      ],
    });
  } finally {
    secret.fill(0);
  }
}

/** The context is set by the statement, for the statement, before a row is written (`server/platform/own-rows.ts`). */
const MAKE = `with own as materialized (
    select set_config('app.tenant_id', $1::uuid::text, true) as tenant, set_config('app.sandbox', $2::boolean::text, true) as sandbox),
  made as (
    insert into crypto_keys (id, tenant_id, sandbox, name, key_type, managed_by, description, created_at, updated_at)
    select $3::uuid, $1::uuid, $2::boolean, $4, 'ecdh-p256', 'service', 'Seals values of calls that name no key.', $10::timestamptz, $10::timestamptz
    from own where own.tenant is not null and own.sandbox is not null
    on conflict do nothing returning id),
  versioned as (
    insert into crypto_key_versions (id, key_id, tenant_id, sandbox, version, value_ct, cek_wrapped, tmk_version, public_key_spki, created_at)
    select $5::uuid, made.id, $1::uuid, $2::boolean, 1, $6, $7, $8::int, $9, $10::timestamptz from made)
  insert into audit_logs (id, tenant_id, sandbox, action, resource_type, resource_id, details,
    ip_address, actor_type, actor_id, actor_label, request_id, user_agent, session_id, created_at)
  select r.id, $1::uuid, $2::boolean, r.action, r.resource_type, r.resource_id, r.details,
    r.ip_address, r.actor_type, r.actor_id, r.actor_label, r.request_id, r.user_agent, r.session_id, r.created_at
  from made cross join json_to_recordset($11::json) as r (id uuid, action text, resource_type text, resource_id text, details jsonb,
    ip_address text, actor_type text, actor_id text, actor_label text, request_id text, user_agent text, session_id text, created_at timestamptz)`;

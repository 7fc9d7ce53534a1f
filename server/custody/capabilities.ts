import { type CapabilityEnv, type CapabilityKind, capabilityHmac, capabilityHolds } from '#server/crypto/capability-tokens.ts';
import { keyring } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';

// Signatures of capability tokens under the workspace's master key (interface rule 50 §6.4).

/** What of a stored token is signed. */
export type SignedToken = {
  tenant_id: string;
  sandbox: boolean;
  kind: string;
  gateway_id: string;
  agent_id: string | null;
  token_hash: Uint8Array;
  dpop_jkt: string | null;
  expires_at: Date;
  scope_jsonb: unknown;
};

export type CapabilitySignature = { capability_hmac: string; hmac_key_version: number };

/** Under the active version of the key. @throws TenantKeyUnavailable */
export async function signCapability(token: SignedToken): Promise<CapabilitySignature> {
  const { key, version } = await keyring().activeTmk(token.tenant_id);
  return { capability_hmac: capabilityHmac(key, capabilityOf(token)), hmac_key_version: version };
}

/** Whether a row is what was signed: what doesn't hold is never signed anew. @throws TenantKeyUnavailable */
export async function isSigned(token: SignedToken & CapabilitySignature): Promise<boolean> {
  const { key } = await keyring().tmk(token.tenant_id, token.hmac_key_version);
  return capabilityHolds(key, capabilityOf(token), token.capability_hmac);
}

const capabilityOf = ({ sandbox, kind, scope_jsonb, ...token }: SignedToken) => ({
  ...token,
  env: (sandbox ? 'test' : 'live') as CapabilityEnv,
  kind: kind as CapabilityKind,
  scope: scope_jsonb as object,
});

type Row = SignedToken & CapabilitySignature & { id: string };

/** How a walk over the tokens went on: `after` is where the next batch begins, undefined at the end. */
export type Resigned = { moved: number; refused: number; after: string | undefined };

/**
 * Signs a batch of a workspace's tokens under the active version of its key, after a rotation. A row whose signature doesn't hold is reported and left as it
 * is; one that ended has none. Safe to run twice: a row that changed meanwhile is left alone.
 */
export async function resignCapabilities(tenantId: string, active: number, after: string, batch: number): Promise<Resigned> {
  const { rows } = await sql().query<Row>(
    `select id, tenant_id, sandbox, kind, gateway_id, agent_id, token_hash, dpop_jkt, expires_at, scope_jsonb, capability_hmac, hmac_key_version from ai_tokens
     where tenant_id = $1 and hmac_key_version < $2 and capability_hmac <> '' and expires_at > now() and id > $3
       and not exists (select from tenant_master_keys k where k.tenant_id = $1 and k.version = hmac_key_version and k.status = 'revoked')
     order by id limit ${batch}`,
    [tenantId, active, after],
  );
  const ready: { id: string; from: string; signature: CapabilitySignature }[] = [];
  let refused = 0;
  for (const row of rows) {
    try {
      if (await isSigned(row)) ready.push({ id: row.id, from: row.capability_hmac, signature: await signCapability(row) });
      else {
        refused++;
        log.error(
          { tenant_id: tenantId, token_id: row.id, alert: true },
          'a capability token was changed by somebody who cannot sign it; it stays refused',
        );
      }
    } catch (error) {
      refused++;
      log.error({ err: error, tenant_id: tenantId, token_id: row.id }, 'cannot sign a capability token under the active master key');
    }
  }
  const { rowCount } = await sql().query(
    `update ai_tokens t set capability_hmac = v.hmac, hmac_key_version = v.version from unnest($1::uuid[], $2::text[], $3::text[], $4::int[]) as v(id, before, hmac, version)
     where t.id = v.id and t.capability_hmac = v.before`,
    [
      ready.map(({ id }) => id),
      ready.map(({ from }) => from),
      ready.map(({ signature }) => signature.capability_hmac),
      ready.map(({ signature }) => signature.hmac_key_version),
    ],
  );
  return { moved: rowCount ?? 0, refused, after: rows.length < batch ? undefined : rows.at(-1)?.id };
}

import { type ChainHead, newSigningSeed, type SigningKey, signHead, signingKeyOf } from '#server/crypto/chain-head.ts';
import { openDeploymentValue, sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';

const NAME = 'audit_signing_key';
type Kept = { root_key_id: string | null; keys: PublicKey[] };
type PublicKey = { kid: string; x: string };

/**
 * The deployment's signing key: AUDIT_SIGNING_KEY_B64, else one made at first use and kept sealed in the database. The public half of every key
 * ever used is remembered, so that old exports stay checkable.
 */
export async function signingKey(): Promise<SigningKey> {
  const kept = await keptKeys();
  if (env.AUDIT_SIGNING_KEY_B64) {
    const key = signingKeyOf(Buffer.from(env.AUDIT_SIGNING_KEY_B64, 'base64'));
    if (!kept?.value.keys.some((k) => k.kid === key.key_id)) await remember(key);
    return key;
  }
  if (kept?.sealed && kept.value.root_key_id) {
    const seed = openDeploymentValue(rootKeys(), NAME, { sealed: kept.sealed, root_key_id: kept.value.root_key_id });
    const key = signingKeyOf(seed);
    seed.fill(0);
    return key;
  }
  await generate();
  return signingKey();
}

/** JSON Web Key Set (RFC 7517, RFC 8037) for /.well-known/svc-audit-keys.json; the first key signs today. */
export async function publicKeyDocument(): Promise<{ keys: Record<string, string>[] }> {
  const current = await signingKey();
  const kept = (await keptKeys())?.value.keys ?? [];
  const keys = [{ kid: current.key_id, x: current.x }, ...kept.filter((k) => k.kid !== current.key_id)];
  return { keys: keys.map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x })) };
}

export const publicKeyOf = async (keyId: string): Promise<string | undefined> =>
  (await keptKeys())?.value.keys.find((k) => k.kid === keyId)?.x;

/** Signs the current head of every chain that grew since its last checkpoint (interface rule 31 §10.7). Daily. */
export async function signCheckpoints(now: Date): Promise<number> {
  const { rows } = await sql().query<{ chain_id: string; sequence_number: string; row_hash: Buffer }>(`
    select h.chain_id, h.sequence_number, h.row_hash
    from (select distinct on (chain_id) chain_id, sequence_number, row_hash from audit_log_critical order by chain_id, sequence_number desc) h
    where not exists (select from audit_checkpoints c where c.chain_id = h.chain_id and c.sequence_number >= h.sequence_number)`);
  if (rows.length === 0) return 0;
  const key = await signingKey();
  for (const row of rows) {
    const head: ChainHead = { chain_id: row.chain_id, sequence_number: BigInt(row.sequence_number), row_hash: row.row_hash, at: now };
    await db().audit_checkpoints.create({
      data: {
        id: newId(),
        chain_id: head.chain_id,
        sequence_number: head.sequence_number,
        row_hash: new Uint8Array(row.row_hash),
        signature: new Uint8Array(signHead(key, head)),
        key_id: key.key_id,
        created_at: now,
      },
    });
  }
  return rows.length;
}

async function keptKeys(): Promise<{ value: Kept; sealed: Uint8Array | null } | null> {
  const row = await db().deployment_values.findUnique({ where: { name: NAME } });
  return row && { value: row.value as Kept, sealed: row.sealed };
}

/** Of several processes at their first use one writes; all read what it wrote. */
async function generate(): Promise<void> {
  const seed = newSigningSeed();
  const key = signingKeyOf(seed);
  const { sealed, root_key_id } = sealDeploymentValue(rootKeys().current, NAME, seed);
  seed.fill(0);
  const value: Kept = { root_key_id, keys: [{ kid: key.key_id, x: key.x }] };
  await sql().query(
    `insert into deployment_values (name, value, sealed) values ($1, $2, $3)
     on conflict (name) do update set sealed = excluded.sealed, updated_at = now(),
       value = jsonb_build_object('root_key_id', excluded.value -> 'root_key_id', 'keys', (excluded.value -> 'keys') || (deployment_values.value -> 'keys'))
     where deployment_values.sealed is null`,
    [NAME, JSON.stringify(value), sealed],
  );
}

async function remember(key: SigningKey): Promise<void> {
  const mine = JSON.stringify([{ kid: key.key_id, x: key.x }]);
  await sql().query(
    `insert into deployment_values (name, value) values ($1, jsonb_build_object('root_key_id', null, 'keys', $2::jsonb))
     on conflict (name) do update set value = jsonb_set(deployment_values.value, '{keys}', $2::jsonb || (deployment_values.value -> 'keys')), updated_at = now()
     where not deployment_values.value -> 'keys' @> $2::jsonb`,
    [NAME, mine],
  );
}

import { type ChainHead, signHead } from '#server/crypto/chain-head.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { db } from '#server/platform/db.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { type AuditKeys, AuditKeysUnavailable, storedAuditKeys } from './audit-keys.ts';
import { keepFailure } from './failures.ts';
import { faultOfChain, nextHead, readEnd, writeHead } from './heads.ts';
import { verifyCritical } from './verify.ts';

/**
 * JSON Web Key Set (RFC 7517, RFC 8037) for /.well-known/svc-audit-keys.json; the first key signs today. All of it is sealed with the private key, so that
 * whoever writes to the database can't publish a key. @throws Refusal dependency_unavailable
 */
export async function publicKeyDocument(): Promise<{ keys: Record<string, string>[] }> {
  const { published } = await storedAuditKeys().catch((error: unknown) => {
    if (!(error instanceof AuditKeysUnavailable)) throw error;
    throw new Refusal('dependency_unavailable', "The audit log's keys are unavailable. Contact the operator of this installation.", {
      cause: error,
    });
  });
  return { keys: published.map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x })) };
}

/** Signs the current head of every chain that grew since its last checkpoint (interface rule 31 §10.7), if all of the chain verifies. Daily. */
export async function signCheckpoints(now: Date): Promise<number> {
  const { rows } = await sql().query<{ chain_id: string }>(`
    select h.chain_id from (select distinct on (chain_id) chain_id, sequence_number from audit_log_critical order by chain_id, sequence_number desc) h
    where not exists (select from audit_checkpoints c where c.chain_id = h.chain_id and c.sequence_number >= h.sequence_number)`);
  let signed = 0;
  for (const { chain_id } of rows) {
    try {
      if (await signIfWhole(chain_id, now)) signed++;
    } catch (error) {
      log.error({ err: error, chain_id }, 'cannot sign a critical audit chain; the next run tries again');
    }
  }
  return signed;
}

async function signIfWhole(chainId: string, now: Date): Promise<boolean> {
  const { failure } = await verifyCritical(chainId);
  if (!failure) return signChain(await storedAuditKeys(), chainId, now);
  await keepFailure(chainId, failure, now);
  return false;
}

/** The head seals the number of checkpoints, so that one that is removed or planted shows. A chain from before heads existed has none yet. */
async function signChain(keys: AuditKeys, chainId: string, now: Date): Promise<boolean> {
  return db().$transaction(async (tx) => {
    await holdLock(tx, `critical:${chainId}`);
    const { head, tail } = await readEnd(tx, chainId);
    if (!tail || (!head && keys.sealed) || (head && faultOfChain(keys.mac, head, tail))) return false;
    const { sequence_number, row_hash } = tail;
    const signed: ChainHead = { chain_id: chainId, sequence_number, row_hash, at: now };
    await tx.audit_checkpoints.create({
      data: {
        id: newId(),
        chain_id: chainId,
        sequence_number,
        row_hash: new Uint8Array(row_hash),
        signature: new Uint8Array(signHead(keys.signing, signed)),
        key_id: keys.signing.key_id,
        created_at: now,
      },
    });
    if (head) await writeHead(tx, keys.mac, nextHead(keys.mac, head, chainId, { checkpoints: head.checkpoints + 1 }));
    return true;
  });
}

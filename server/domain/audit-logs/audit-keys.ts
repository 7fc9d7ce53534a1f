import { zeroHash } from '#server/crypto/chain.ts';
import { newSigningSeed, type SigningKey, signingKeyOf } from '#server/crypto/chain-head.ts';
import { type ChainKey, headMac } from '#server/crypto/chain-seal.ts';
import { openDeploymentValue, sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import { secretKey } from '#server/crypto/secret-key.ts';
import { processState } from '#server/kernel/process-state.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { NO_WORKSPACE, OPERATOR_CHAIN } from './chain-ids.ts';

const NAME = 'audit_keys';
/** Where the signing key was before its public half was sealed with it. The release before reads it while machines are replaced. */
const BEFORE = 'audit_signing_key';

export type PublicKey = { kid: string; x: string };
export type AuditKeys = {
  /** MACs of entries and heads; each chain has a key of its own derived from it. */
  mac: ChainKey;
  signing: SigningKey;
  /** Every key that ever signed, so that old exports stay checkable. The first signs today. */
  published: readonly PublicKey[];
  /** Whether every chain has a head. Until then, a chain without one is from before heads existed. */
  sealed: boolean;
  made: Date;
};

/** What is sealed, as JSON: nothing about the keys is read from a column that isn't sealed. */
type Kept = { mac: string; seed: string; keys: PublicKey[]; sealed: boolean; made: string };
type Stored = { sealed: Buffer; root_key_id: string };

/** The keys of the audit log can't be had: their row is gone while sealed chains exist, or no root key of this process opens it. */
export class AuditKeysUnavailable extends Error {
  override readonly name = 'AuditKeysUnavailable';
}

const held = processState('audit-keys', (): { keys?: AuditKeys | undefined } => ({}));

/** The keys as this process knows them, read or made once, and again until every chain has a head. @throws AuditKeysUnavailable */
export async function auditKeys(): Promise<AuditKeys> {
  return held.keys?.sealed ? held.keys : storedAuditKeys();
}

/** The keys as they are stored now. @throws AuditKeysUnavailable */
export async function storedAuditKeys(): Promise<AuditKeys> {
  for (;;) {
    const stored = await storedRow();
    if (!stored) {
      const { made, before, evidence, entries } = await surroundings();
      if (made) continue;
      if (evidence) throw new AuditKeysUnavailable('the keys of the audit log are missing, and sealed chains exist');
      await makeKeys(before, !entries);
      continue;
    }
    const kept = openKept(NAME, stored, (text) => JSON.parse(text.toString('utf8')) as Kept);
    const keys = keysOf(kept);
    if (!kept.keys.some(({ kid }) => kid === keys.signing.key_id)) {
      await replace(stored, { ...kept, keys: [publicOf(keys.signing), ...kept.keys] });
      continue;
    }
    held.keys = keys;
    return keys;
  }
}

/** Every chain has a head from now on, and one without is a failure. */
export async function markSealed(): Promise<void> {
  for (;;) {
    const stored = await storedRow();
    if (!stored) throw new AuditKeysUnavailable('the keys of the audit log are missing');
    const kept = openKept(NAME, stored, (text) => JSON.parse(text.toString('utf8')) as Kept);
    if (!kept.sealed) await replace(stored, { ...kept, sealed: true });
    if (!(await storedAuditKeys()).sealed) continue;
    await sql().query('delete from deployment_values where name = $1', [BEFORE]);
    return;
  }
}

/** New keys in place of lost ones: an operator accepts that what the old ones sealed can't be verified any more. */
export async function replaceLostKeys(): Promise<AuditKeys> {
  await sql().query('delete from deployment_values where name = $1', [NAME]);
  await makeKeys(null, true);
  return storedAuditKeys();
}

function keysOf(kept: Kept): AuditKeys {
  const seed = Buffer.from(env.AUDIT_SIGNING_KEY_B64 ?? kept.seed, 'base64');
  const signing = signingKeyOf(seed);
  seed.fill(0);
  const published = [publicOf(signing), ...kept.keys.filter(({ kid }) => kid !== signing.key_id)];
  return { mac: secretKey(Buffer.from(kept.mac, 'base64')), signing, published, sealed: kept.sealed, made: new Date(kept.made) };
}

const publicOf = ({ key_id, x }: SigningKey): PublicKey => ({ kid: key_id, x });

function openKept<T>(name: string, stored: Stored, read: (plaintext: Buffer) => T): T {
  let plaintext: Buffer;
  try {
    plaintext = openDeploymentValue(rootKeys(), name, stored);
  } catch (error) {
    throw new AuditKeysUnavailable('the keys of the audit log were not sealed by the root key of this process', { cause: error });
  }
  try {
    return read(plaintext);
  } finally {
    plaintext.fill(0);
  }
}

/** The sealed keys; null when there are none yet. Every check and append of a chain begins here, so it reads one row and no entries. */
async function storedRow(): Promise<Stored | null> {
  const { rows } = await sql().query<{ sealed: Buffer | null; value: { root_key_id: string } }>({
    name: 'audit-keys',
    text: 'select sealed, value from deployment_values where name = $1',
    values: [NAME],
  });
  const [own] = rows;
  return own ? { sealed: own.sealed ?? Buffer.alloc(0), root_key_id: own.value.root_key_id } : null;
}

/**
 * What tells a first use from a loss. One statement, so that all of it is of one moment. `made`: another process has made the keys meanwhile; `evidence`: what
 * keys sealed exists, so their absence is a loss.
 */
async function surroundings() {
  const { rows } = await sql().query<{ name: string; sealed: Buffer | null; value: { root_key_id: string; keys?: PublicKey[] } }>(
    `select name, sealed, value from deployment_values where name in ($1, $2)
     union all select 'evidence', null, '{}' where exists (select from audit_chain_heads) or exists (select from audit_log_critical where mac is not null)
     union all select 'entries', null, '{}' where exists (select from audit_log_critical) or exists (select from audit_checkpoints) or exists (select from tenants)`,
    [NAME, BEFORE],
  );
  const of = (name: string) => rows.find((row) => row.name === name);
  return {
    made: of(NAME) !== undefined,
    before: of(BEFORE) ?? null,
    evidence: of('evidence') !== undefined,
    entries: of('entries') !== undefined,
  };
}

type Before = { sealed: Buffer | null; value: { root_key_id: string | null; keys?: PublicKey[] } };

/** Of several processes at their first use one writes; all read what it wrote. The operator's chain begins with the keys. */
async function makeKeys(before: Before | null, fresh: boolean): Promise<void> {
  const mac = randomBuffer(32);
  const seed = seedOf(before) ?? newSigningSeed();
  // Keys that were published before stay: there was no proof of them, and exports that they signed are with customers.
  const kept: Kept = {
    mac: mac.toString('base64'),
    seed: seed.toString('base64'),
    keys: [publicOf(signingKeyOf(seed))],
    sealed: fresh,
    made: new Date().toISOString(),
  };
  for (const key of before?.value.keys ?? []) if (!kept.keys.some(({ kid }) => kid === key.kid)) kept.keys.push({ kid: key.kid, x: key.x });
  seed.fill(0);
  const key = secretKey(mac);
  const head = { ...emptyHead(OPERATOR_CHAIN), mac: headMac(key, emptyHead(OPERATOR_CHAIN)) };
  const { sealed, root_key_id } = sealKept(kept);
  await sql().query(
    `with made as (insert into deployment_values (name, value, sealed) values ($1, jsonb_build_object('root_key_id', $2::text), $3) on conflict (name) do nothing returning 1)
     insert into audit_chain_heads (chain_id, tenant_id, sequence_number, row_hash, epoch, checkpoints, reported, mac)
       select $4, $5::uuid, 0, $6, 1, 0, false, $7 from made where $8 on conflict (chain_id) do nothing`,
    [NAME, root_key_id, sealed, OPERATOR_CHAIN, NO_WORKSPACE, zeroHash, head.mac, fresh],
  );
}

function seedOf(before: Before | null): Buffer | null {
  if (!before?.sealed || !before.value.root_key_id) return null;
  return openKept(BEFORE, { sealed: before.sealed, root_key_id: before.value.root_key_id }, (seed) => Buffer.from(seed));
}

function sealKept(kept: Kept) {
  const plaintext = Buffer.from(JSON.stringify(kept));
  try {
    return sealDeploymentValue(rootKeys().current, NAME, plaintext);
  } finally {
    plaintext.fill(0);
  }
}

/** Only over what was read: another process, or a rotation of the root key, may have written meanwhile. */
async function replace(stored: Stored, kept: Kept): Promise<void> {
  const { sealed, root_key_id } = sealKept(kept);
  await sql().query(
    `update deployment_values set sealed = $1, value = jsonb_build_object('root_key_id', $2::text), updated_at = now() where name = $3 and sealed = $4`,
    [sealed, root_key_id, NAME, stored.sealed],
  );
}

/** A chain without entries. */
export const emptyHead = (chainId: string) => ({
  chain_id: chainId,
  sequence_number: 0n,
  row_hash: zeroHash,
  epoch: 1n,
  baseline: null,
  checkpoints: 0,
  failure: null,
  failed_sequence: null,
  failed_at: null,
  reported: false,
});

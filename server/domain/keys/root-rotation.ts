import { openDeploymentValue, sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { rewrapTenantKey } from '#server/crypto/tenant-key.ts';
import { mailName } from '#server/domain/mail/service.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';

export type RootRotation = {
  /** Keys, deployment secrets, authenticator seeds and sealed mails moved by this run. */
  moved: number;
  /** Still under another root key; 0 means MASTER_KEY_PREVIOUS_B64 may be removed. */
  remaining: number;
};

const BATCH = 100;

/**
 * Wraps every tenant master key, the deployment's own secrets, authenticator seeds and sealed mails under the current root key (interface rule 31 §3). Needs the key they are
 * under as MASTER_KEY_PREVIOUS_B64. Idempotent and resumable: each row moves by itself, compared with what it was.
 */
export async function rotateRootKey(): Promise<RootRotation> {
  const moved =
    (await moveTenantKeys()) + (await moveDeploymentValues()) + (await moveSealed('mails')) + (await moveSealed('totp_secrets'));
  const { rows } = await sql().query<{ n: number }>(
    `select (select count(*) from tenant_master_keys where wrap_method = 'global' and wrapped_key is not null and root_key_id <> $1)::int
      + (select count(*) from deployment_values where sealed is not null and value ->> 'root_key_id' <> $1)::int
      + (select count(*) from mails where sealed is not null and root_key_id <> $1)::int
      + (select count(*) from totp_secrets where root_key_id <> $1)::int as n`,
    [rootKeys().current.id],
  );
  const remaining = rows[0]?.n ?? 0;
  if (moved > 0 || remaining > 0) log.info({ moved, remaining, root_key_id: rootKeys().current.id }, 'root key rotation');
  return { moved, remaining };
}

type KeyRow = { id: string; tenant_id: string; version: number; wrapped_key: Buffer; root_key_id: string };

async function moveTenantKeys(): Promise<number> {
  const roots = rootKeys();
  let moved = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await sql().query<KeyRow>(
      `select id, tenant_id, version, wrapped_key, root_key_id from tenant_master_keys
       where wrap_method = 'global' and wrapped_key is not null and root_key_id <> $1 and id > $2 order by id limit ${BATCH}`,
      [roots.current.id, after],
    );
    for (const row of rows) {
      try {
        const next = rewrapTenantKey(roots, row.tenant_id, row.version, row);
        if (!next) continue;
        const { rowCount } = await sql().query(
          'update tenant_master_keys set wrapped_key = $1, root_key_id = $2 where id = $3 and root_key_id = $4',
          [next.wrapped_key, next.root_key_id, row.id, row.root_key_id],
        );
        moved += rowCount ?? 0;
      } catch (error) {
        log.error(
          { err: error, tenant_id: row.tenant_id, version: row.version, root_key_id: row.root_key_id },
          'cannot move a tenant key to the current root key',
        );
      }
    }
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return moved;
    after = last.id;
  }
}

async function moveDeploymentValues(): Promise<number> {
  const roots = rootKeys();
  const { rows } = await sql().query<{ name: string; sealed: Buffer; root_key_id: string }>(
    `select name, sealed, value ->> 'root_key_id' as root_key_id from deployment_values where sealed is not null and value ->> 'root_key_id' <> $1`,
    [roots.current.id],
  );
  let moved = 0;
  for (const row of rows) {
    try {
      const plaintext = openDeploymentValue(roots, row.name, row);
      const next = sealDeploymentValue(roots.current, row.name, plaintext);
      plaintext.fill(0);
      const { rowCount } = await sql().query(
        `update deployment_values set sealed = $1, value = jsonb_set(value, '{root_key_id}', to_jsonb($2::text)), updated_at = now() where name = $3 and value ->> 'root_key_id' = $4`,
        [next.sealed, next.root_key_id, row.name, row.root_key_id],
      );
      moved += rowCount ?? 0;
    } catch (error) {
      log.error({ err: error, name: row.name }, 'cannot move a deployment secret to the current root key');
    }
  }
  return moved;
}

/** Tables of values that belong to no workspace, each bound to its row by a name. They fit one pass: mails live for days, and a person has one app. */
const SEALED = { mails: mailName, totp_secrets: (id: string) => `totp_seed:${id}` } as const;

async function moveSealed(table: keyof typeof SEALED): Promise<number> {
  const roots = rootKeys();
  const { rows } = await sql().query<{ id: string; sealed: Buffer; root_key_id: string }>(
    `select id, sealed, root_key_id from ${table} where sealed is not null and root_key_id <> $1`,
    [roots.current.id],
  );
  let moved = 0;
  for (const row of rows) {
    try {
      const name = SEALED[table](row.id);
      const plaintext = openDeploymentValue(roots, name, row);
      const next = sealDeploymentValue(roots.current, name, plaintext);
      plaintext.fill(0);
      const { rowCount } = await sql().query(`update ${table} set sealed = $1, root_key_id = $2 where id = $3 and root_key_id = $4`, [
        next.sealed,
        next.root_key_id,
        row.id,
        row.root_key_id,
      ]);
      moved += rowCount ?? 0;
    } catch (error) {
      log.error({ err: error, table, id: row.id, root_key_id: row.root_key_id }, 'a value could not be moved to the current root key');
    }
  }
  return moved;
}

import fs from 'node:fs';
import type pg from 'pg';
import { loadRootKeys, parseRootKey } from '../../server/crypto/root-key.ts';
import type { Env } from '../../server/platform/env.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** The id names the key without revealing it: the first 8 hex digits of its SHA-256. */
export function rootKey(env: Env): { id?: string; finding: Finding } {
  try {
    if (env.MASTER_KEY_B64) {
      const { id } = parseRootKey(env.MASTER_KEY_B64, 'MASTER_KEY_B64');
      return { id, finding: ok(`${id}, from MASTER_KEY_B64`) };
    }
    if (!fs.existsSync(env.MASTER_KEY_FILE))
      return {
        finding: warn(
          `${env.MASTER_KEY_FILE} does not exist`,
          'The first start creates it. If this is not a new installation, restore it from the backup before starting.',
        ),
      };
    const { id } = loadRootKeys({ file: env.MASTER_KEY_FILE }).current;
    return { id, finding: ok(`${id}, from ${env.MASTER_KEY_FILE}, readable by its owner only`) };
  } catch (error) {
    return { finding: bad((error as Error).message, 'Restore this key from the backup. Nothing can be decrypted without it.') };
  }
}

/** Every tenant key is wrapped by the root key, and the keys of the service are sealed by it: a foreign one, or none, opens nothing. */
export async function keyFits(client: pg.Client, id: string | undefined, env: Env): Promise<Finding[]> {
  const { rows: made } = await client.query("select to_regclass('public.tenant_master_keys') as there");
  if (made[0]?.there === null) return [];
  const { rows } = await client.query<{ root_key_id: string }>(
    `select root_key_id from tenant_master_keys where root_key_id is not null
      union select value ->> 'root_key_id' from deployment_values where sealed is not null`,
  );
  const ids = rows.map((row) => row.root_key_id);
  const previous = env.MASTER_KEY_PREVIOUS_B64 ? parseRootKey(env.MASTER_KEY_PREVIOUS_B64, 'MASTER_KEY_PREVIOUS_B64').id : undefined;
  const foreign = ids.filter((other) => other !== id && other !== previous);
  if (foreign.length > 0)
    return [
      bad(
        `the database was encrypted with ${foreign.join(', ')}, but ${id ? `this is ${id}` : 'there is no key here'}`,
        'Restore the key that belongs to this database. Nothing in it can be decrypted without it.',
      ),
    ];
  if (previous === undefined) return [];
  return ids.includes(previous)
    ? [warn(`rotation from ${previous} is not complete`, 'Keep MASTER_KEY_PREVIOUS_B64 until the rotation is complete.')]
    : [ok(`nothing is encrypted with ${previous} anymore: you can remove MASTER_KEY_PREVIOUS_B64`)];
}

import { setTimeout as sleep } from 'node:timers/promises';
import { RootKeyRefused } from '#server/crypto/root-key.ts';
import { unwrapTenantKey } from '#server/crypto/tenant-key.ts';
import { processState } from '#server/kernel/process-state.ts';
import { EnvError, env } from '#server/platform/env.ts';
import { hasRootKey, rootKeys } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';

type Sample = { root_key_id: string; keys: number; tenant_id: string; version: number; wrapped_key: Buffer };

type Queryable = Pick<ReturnType<typeof sql>, 'query'>;

/**
 * Self-test of the supervisor, of every role, and of every operator's command: the root key in hand opens one tenant key of each root key id the database
 * knows, and is the one that sealed the keys of the service, which are there before any workspace is (interface rule 31 §3). A process with another key would serve errors, and worse, seal what the right key cannot
 * open. No key file is made for a database that already has keys: it could only be a wrong one.
 * @throws RootKeyRefused with what to do; never key material
 */
export async function checkRootKey(database: Queryable = sql()): Promise<void> {
  await compare(database);
  known.fits = true;
}

async function compare(database: Queryable): Promise<void> {
  const { rows } = await database.query<Sample>(`
    select distinct on (root_key_id) root_key_id, count(*) over (partition by root_key_id)::int as keys, tenant_id, version, wrapped_key
    from tenant_master_keys where wrap_method = 'global' and wrapped_key is not null order by root_key_id, created_at desc`);
  const { rows: values } = await database.query<{ root_key_id: string }>(
    `select distinct value ->> 'root_key_id' as root_key_id from deployment_values where sealed is not null`,
  );
  const [first] = [...rows.map(wrappedBy), ...values.map(sealedBy)];
  if (first && !hasRootKey()) throw absent(first);
  const roots = rootKeys();
  const isOurs = (id: string) => id === roots.current.id || id === roots.previous?.id;
  const other = values.find(({ root_key_id }) => !isOurs(root_key_id));
  for (const row of rows) {
    if (!isOurs(row.root_key_id)) throw doesNotFit(wrappedBy(row));
    try {
      unwrapTenantKey(roots, row.tenant_id, row.version, row);
    } catch {
      throw new RootKeyRefused(
        `the root key ${row.root_key_id} has the right ID but can't decrypt the tenant keys of this database: the database was altered or partially restored`,
      );
    }
  }
  if (other) throw doesNotFit(sealedBy(other));
}

/** The same for a role that works, or waits, without the database: false while that can't be read. @throws RootKeyRefused, EnvError */
export async function rootKeyFits(): Promise<boolean> {
  try {
    await checkRootKey();
    return true;
  } catch (error) {
    if (error instanceof RootKeyRefused || error instanceof EnvError) throw error;
    log.warn({ err: error }, 'the database can’t be read to check the root key; trying again');
    return false;
  }
}

/**
 * Lets a role start that works without the database: the key is checked now, or as soon as the database can be read, and `onRefused` hears of one that doesn't
 * fit then. Without any key it waits, since only the database tells whether one may be made. @throws RootKeyRefused
 */
export async function startWithRootKey(onRefused: (error: RootKeyRefused) => void): Promise<void> {
  let started = false;
  const judged = (async () => {
    while (!(await rootKeyFits())) await sleep(RETRY_MS);
  })();
  judged.catch((error: RootKeyRefused) => started && onRefused(error)); // before, the caller has it
  await (hasRootKey() ? Promise.race([judged, sleep(PATIENCE_MS)]) : judged);
  started = true;
}

const RETRY_MS = 250;
/** A database that accepts connections and says nothing holds up no start. */
const PATIENCE_MS = 2_000;

const known = processState('root-key', (): { fits: boolean; checking: Promise<void> | undefined } => ({
  fits: false,
  checking: undefined,
}));

/** Rejects until the key was found to fit the database, which is asked once. For what keeps copies of the database's rows, sealed with that key. */
export function afterRootKey(): Promise<void> {
  if (known.fits) return CHECKED;
  known.checking ??= checkRootKey().finally(() => {
    known.checking = undefined;
  });
  return known.checking;
}

const CHECKED = Promise.resolve();

function absent(what: string): RootKeyRefused {
  return new RootKeyRefused(
    `there is no root key: ${env.MASTER_KEY_FILE} does not exist and MASTER_KEY_B64 is not set, but in this database ${what}. ` +
      'Restore that key. Without it, nothing can be decrypted.',
  );
}

const wrappedBy = (row: Sample) => `${row.keys} tenant ${row.keys === 1 ? 'key is' : 'keys are'} wrapped by root key ${row.root_key_id}`;
const sealedBy = (row: { root_key_id: string }) => `the keys of the service are sealed by root key ${row.root_key_id}`;

function doesNotFit(what: string): RootKeyRefused {
  const { current, previous } = rootKeys();
  const have = previous ? `${current.id} and the previous key ${previous.id}` : current.id;
  return new RootKeyRefused(
    `the root key doesn't match this database: ${what}, but this process has ${have}. ` +
      'Restore that key as MASTER_KEY_B64 or in MASTER_KEY_FILE. To finish a rotation, set it as MASTER_KEY_PREVIOUS_B64 next to the new one.',
  );
}

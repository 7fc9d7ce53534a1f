import { controlPlaneKeyOf, type KeyObject, newControlPlaneSeed } from '#server/crypto/agent-keys.ts';
import { openDeploymentValue, sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { processState } from '#server/kernel/process-state.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';

const NAME = 'agent_control_key';
type Key = { private: KeyObject; pem: string };
const held = processState('agent-control-key', (): { key?: Key | undefined } => ({}));

/** The deployment's Ed25519 key that signs bundles, manifests and builds of the agent: made at first use and kept sealed in the database. */
export async function controlPlaneKey(): Promise<Key> {
  held.key ??= (await kept()) ?? (await made());
  return held.key;
}

async function kept(): Promise<Key | undefined> {
  const { rows } = await sql().query<{ sealed: Buffer | null; root_key_id: string | null }>(
    `select sealed, value ->> 'root_key_id' as root_key_id from deployment_values where name = $1`,
    [NAME],
  );
  const [row] = rows;
  if (!row?.sealed || !row.root_key_id) return undefined;
  const seed = openDeploymentValue(rootKeys(), NAME, { sealed: row.sealed, root_key_id: row.root_key_id });
  const key = controlPlaneKeyOf(seed);
  seed.fill(0);
  return key;
}

/** Of several processes at their first use one writes; all read what it wrote. */
async function made(): Promise<Key> {
  const seed = newControlPlaneSeed();
  const { sealed, root_key_id } = sealDeploymentValue(rootKeys().current, NAME, seed);
  seed.fill(0);
  await sql().query('insert into deployment_values (name, value, sealed) values ($1, $2, $3) on conflict (name) do nothing', [
    NAME,
    JSON.stringify({ root_key_id }),
    sealed,
  ]);
  const key = await kept();
  if (!key) throw new Error('the key of the control plane was written and is not there');
  return key;
}

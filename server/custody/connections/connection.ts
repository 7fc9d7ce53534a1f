import type { StoredValue } from '#server/crypto/envelope.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import type { ConnectionStatus, Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';

export type ConnectionSpace = Pick<HotCtx, 'tenant_id' | 'sandbox'>;
export type ConnectionRef = { secretId: string; environment: string };

/** The connection of one environment as it is stored. */
export type Connection = {
  /** Of the environment's row. */
  id: string;
  secret_id: string;
  name: string;
  environment: string;
  config: Oauth2Config;
  status: ConnectionStatus;
  expires_at: Date | null;
  generation: number;
  refreshed_at: Date | null;
  failures: number;
  retry_at: Date | null;
  /** Of the value's row. */
  value_id: string;
  value: StoredValue;
};

/** There is no connection to take a token from: a person has to act. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}
/** No token for now: the provider doesn't answer, or refuses for a reason that may pass. */
export class TokenUnavailable extends Error {
  override readonly name = 'TokenUnavailable';
}

/** Milliseconds of life that the token has left. */
export const lifeLeft = (expires_at: Date | number | null, now: number): number =>
  expires_at === null ? Number.POSITIVE_INFINITY : Number(expires_at) - now;

/** @throws NotConnected */
export function assertConnected({ name, environment, status }: Pick<Connection, 'name' | 'environment' | 'status'>): void {
  if (status === 'connected' || status === 'error') return;
  throw new NotConnected(notConnected(name, environment, status));
}

/** Says what to do next; the same words wherever it is found. */
export const notConnected = (name: string, environment: string, status: ConnectionStatus): string =>
  status === 'expired'
    ? `The connection of the secret ${name} in the environment ${environment} has expired. Connect it again.`
    : `The secret ${name} is not connected to its provider in the environment ${environment}. Connect it first.`;

type Row = Omit<Connection, 'value'> & StoredValue;

/** The connection as the database has it; undefined when there is none. */
export async function readConnection(space: ConnectionSpace, { secretId, environment }: ConnectionRef): Promise<Connection | undefined> {
  const [row] = await ownRows<Row>(space, CONNECTION, secretId, environment);
  if (!row) return undefined;
  const { value_ct, cek_wrapped, tmk_version, ...connection } = row;
  return { ...connection, value: { value_ct, cek_wrapped, tmk_version } };
}

const CONNECTION = ownQuery(
  'custody-connection',
  `select e.id, e.secret_id, s.shortcode_name as name, e.environment_name as environment, s.oauth2_config as config, e.oauth2_status as status,
     e.oauth2_expires_at as expires_at, e.refresh_generation as generation, e.oauth2_refreshed_at as refreshed_at, e.oauth2_failures as failures,
     e.oauth2_retry_at as retry_at, v.id as value_id, v.value_ct, v.cek_wrapped, v.tmk_version
   from secret_environments e join secrets s on s.id = e.secret_id and s.secret_type = 'oauth2'
   join secret_values v on v.id = e.current_value_id and v.secret_environment_id = e.id
   where e.tenant_id = $1 and e.sandbox = $2 and e.secret_id = $3::uuid and e.environment_name = $4 and v.value_ct is not null and v.cek_wrapped is not null`,
);

import type { Secret, SecretValue } from './model.ts';
import { defineSlice, epochMs, OF_SPACE } from './slice.ts';

type SecretRow = {
  id: string;
  shortcode_name: string;
  secret_type: string;
  collection_id: string | null;
  expires_at: number | null;
  strict_expiry_enforcement: boolean;
  allowed_hosts: string[] | null;
};
type SecretValueRow = {
  secret_id: string;
  environment_name: string;
  expires_at_override: number | null;
  value_id: string;
  value_ct: string;
  cek_wrapped: string;
  tmk_version: number;
};

/** Values stay sealed under the workspace's keys, in memory and on disk. */
export const secrets = defineSlice({
  name: 'secrets',
  tables: ['secrets', 'secret_environments', 'secret_values'],
  queries: {
    secrets: `select tenant_id, sandbox, id, shortcode_name, secret_type, collection_id, ${epochMs('expires_at')} as expires_at, strict_expiry_enforcement, allowed_hosts
    from secrets where ${OF_SPACE}`,
    secret_values: `select e.tenant_id, e.sandbox, e.secret_id, e.environment_name, ${epochMs('e.expires_at_override')} as expires_at_override, v.id as value_id,
      encode(v.value_ct, 'base64') as value_ct, encode(v.cek_wrapped, 'base64') as cek_wrapped, v.tmk_version
    from secret_environments e join secret_values v on v.id = e.current_value_id and v.secret_environment_id = e.id
    where e.tenant_id = any($1) and e.sandbox = any($2) and v.value_ct is not null and v.cek_wrapped is not null`,
  },
  compile(rows: { secrets: SecretRow[]; secret_values: SecretValueRow[] }) {
    const values = Map.groupBy(rows.secret_values, (row) => row.secret_id);
    const compiled = rows.secrets.map((row) => compileSecret(row, values.get(row.id) ?? []));
    const byId = new Map(compiled.map((secret) => [secret.id, secret]));
    const byName = new Map(compiled.map((secret) => [secret.name, secret]));
    return {
      secretById: (id: string): Secret | undefined => byId.get(id),
      secretByName: (name: string): Secret | undefined => byName.get(name),
    };
  },
  size: (rows) => rows.secrets.length,
});

function compileSecret(row: SecretRow, values: readonly SecretValueRow[]): Secret {
  return {
    id: row.id,
    name: row.shortcode_name,
    type: row.secret_type,
    collectionId: row.collection_id,
    expiresAt: row.expires_at,
    strict: row.strict_expiry_enforcement,
    allowedHosts: row.allowed_hosts,
    values: new Map(values.map((value) => [value.environment_name, compileValue(value)])),
  };
}

function compileValue(row: SecretValueRow): SecretValue {
  const sealed = {
    value_ct: Buffer.from(row.value_ct, 'base64'),
    cek_wrapped: Buffer.from(row.cek_wrapped, 'base64'),
    tmk_version: row.tmk_version,
  };
  return { id: row.value_id, expiresAt: row.expires_at_override, sealed };
}

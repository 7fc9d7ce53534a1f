import type { ConnectionStatus } from '#server/kernel/oauth2-providers.ts';
import type { Secret, SecretConnection, SecretLink, SecretValue } from './model.ts';
import { defineSlice, epochMs, OF_SPACE } from './slice.ts';

type SecretRow = {
  id: string;
  name: string;
  shortcode_name: string;
  secret_type: string;
  collection_id: string | null;
  expires_at: number | null;
  strict_expiry_enforcement: boolean;
  allowed_hosts: string[] | null;
  is_escrow: boolean;
  header_name: string | null;
  value_prefix: string | null;
};
type SealedRow = {
  expires_at_override: number | null;
  value_id: string;
  value_ct: string;
  cek_wrapped: string;
  tmk_version: number;
  environment_id: string;
  oauth2_status: ConnectionStatus | null;
  oauth2_expires_at: number | null;
  refresh_generation: number;
  certificate_ends_at: number | null;
};
type SecretValueRow = SealedRow & { secret_id: string; environment_name: string };
/** Without a share, or with one that ended, the rest is null. */
type SecretLinkRow = { linked_id: string; share_id: string; active: boolean } & (
  | { owner_id: null }
  | {
      owner_id: string;
      secret_id: string;
      ends_at: number | null;
      access_level: SecretLink['level'];
      allowed_hosts: string[] | null;
      owner_hosts: string[] | null;
      environment_name: string;
      expires_at: number | null;
      strict_expiry_enforcement: boolean;
      value: SealedRow | null;
    }
);

/** Values stay sealed under the workspace's keys, in memory and on disk. */
export const secrets = defineSlice({
  name: 'secrets',
  tables: ['secrets', 'secret_environments', 'secret_values'],
  queries: {
    secrets: `select tenant_id, sandbox, id, name, shortcode_name, secret_type, collection_id, ${epochMs('expires_at')} as expires_at, strict_expiry_enforcement, allowed_hosts, is_escrow, header_name, value_prefix
    from secrets where ${OF_SPACE}`,
    secret_values: `select e.tenant_id, e.sandbox, e.secret_id, e.environment_name, ${epochMs('e.expires_at_override')} as expires_at_override, v.id as value_id,
      e.id as environment_id, e.oauth2_status, ${epochMs('e.oauth2_expires_at')} as oauth2_expires_at, e.refresh_generation,
      ${epochMs("(e.cert_metadata->>'expires_at')::timestamptz")} as certificate_ends_at,
      encode(v.value_ct, 'base64') as value_ct, encode(v.cek_wrapped, 'base64') as cek_wrapped, v.tmk_version
    from secret_environments e join secret_values v on v.id = e.current_value_id and v.secret_environment_id = e.id
    where e.tenant_id = any($1) and e.sandbox = any($2) and v.value_ct is not null and v.cek_wrapped is not null`,
    // Both rows must name each other, and only an active share brings a value. What it reads of the owner's changes the linked row (triggers of `secret_shares`).
    secret_links: `select l.tenant_id, l.sandbox, l.id as linked_id, l.linked_share_id as share_id, o.id is not null as active, o.tenant_id as owner_id, o.id as secret_id, ${epochMs('s.expires_at')} as ends_at,
      s.access_level, s.allowed_hosts, o.allowed_hosts as owner_hosts, s.environment_name, ${epochMs('o.expires_at')} as expires_at, o.strict_expiry_enforcement,
      case when v.id is not null then jsonb_build_object('expires_at_override', ${epochMs('e.expires_at_override')}, 'value_id', v.id,
        'value_ct', encode(v.value_ct, 'base64'), 'cek_wrapped', encode(v.cek_wrapped, 'base64'), 'tmk_version', v.tmk_version,
        'environment_id', e.id, 'oauth2_status', e.oauth2_status, 'oauth2_expires_at', ${epochMs('e.oauth2_expires_at')}, 'refresh_generation', e.refresh_generation,
        'certificate_ends_at', ${epochMs("(e.cert_metadata->>'expires_at')::timestamptz")}) end as value
    from secrets l
      left join secret_shares s on s.id = l.linked_share_id and s.linked_secret_id = l.id and s.recipient_tenant_id = l.tenant_id and s.sandbox = l.sandbox and s.status = 'active'
      left join tenants t on t.id = s.tenant_id and t.deleted_at is null
      left join secrets o on o.id = s.secret_id and o.tenant_id = t.id and o.sandbox = s.sandbox and o.linked_share_id is null
      left join secret_environments e on e.secret_id = o.id and e.environment_name = s.environment_name
      left join secret_values v on v.id = e.current_value_id and v.secret_environment_id = e.id and v.value_ct is not null and v.cek_wrapped is not null
    where l.tenant_id = any($1) and l.sandbox = any($2) and l.linked_share_id is not null`,
  },
  compile(rows: { secrets: SecretRow[]; secret_values: SecretValueRow[]; secret_links: SecretLinkRow[] }) {
    const values = Map.groupBy(rows.secret_values, (row) => row.secret_id);
    const links = new Map(rows.secret_links.map((row) => [row.linked_id, row]));
    const compiled = rows.secrets.map((row) => {
      const link = links.get(row.id);
      return link ? compileLinked(row, link) : compileSecret(row, values.get(row.id) ?? []);
    });
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
    title: row.name,
    type: row.secret_type,
    collectionId: row.collection_id,
    expiresAt: row.expires_at,
    strict: row.strict_expiry_enforcement,
    allowedHosts: row.allowed_hosts,
    escrow: row.is_escrow ? { header: row.header_name, prefix: row.value_prefix } : null,
    values: new Map(values.map((value) => [value.environment_name, compileValue(value)])),
    link: null,
  };
}

/** Name and collection are the recipient's; everything else is the owner's and the share's. */
function compileLinked(row: SecretRow, link: SecretLinkRow): Secret {
  const linked = { ...compileSecret(row, []), allowedHosts: [] };
  const { share_id: shareId, active } = link;
  if (link.owner_id === null)
    return {
      ...linked,
      link: { shareId, active, endsAt: 0, level: 'use', ownerId: '', secretId: '', ownerHosts: [], environment: '', value: undefined },
    };
  return {
    ...linked,
    expiresAt: link.expires_at,
    strict: link.strict_expiry_enforcement,
    allowedHosts: link.allowed_hosts,
    link: {
      shareId,
      active,
      endsAt: link.ends_at ?? Number.POSITIVE_INFINITY,
      level: link.access_level,
      ownerId: link.owner_id,
      secretId: link.secret_id,
      ownerHosts: link.owner_hosts,
      environment: link.environment_name,
      value: link.value ? { ...compileValue(link.value), tenantId: link.owner_id } : undefined,
    },
  };
}

/** The value that a call in this environment gets. */
export const valueIn = (secret: Secret, environment: string): SecretValue | undefined =>
  secret.link ? secret.link.value : secret.values.get(environment);

function compileValue(row: SealedRow): SecretValue {
  const sealed = {
    value_ct: Buffer.from(row.value_ct, 'base64'),
    cek_wrapped: Buffer.from(row.cek_wrapped, 'base64'),
    tmk_version: row.tmk_version,
  };
  return {
    id: row.value_id,
    expiresAt: row.expires_at_override,
    sealed,
    connection: compileConnection(row),
    certificateEndsAt: row.certificate_ends_at,
  };
}

const compileConnection = (row: SealedRow): SecretConnection | null =>
  row.oauth2_status === null
    ? null
    : { id: row.environment_id, status: row.oauth2_status, tokenExpiresAt: row.oauth2_expires_at, generation: row.refresh_generation };

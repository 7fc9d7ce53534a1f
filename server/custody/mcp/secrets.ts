import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { Sensitive } from '#server/crypto/sensitive.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { egress } from '#server/platform/egress.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';

/** Why a secret can't be sent. */
export class SecretUnusable extends Error {
  override readonly name = 'SecretUnusable';
  readonly reason: 'missing' | 'not_injectable' | 'environment_missing' | 'expired' | 'host_not_allowed' | 'sealed';
  constructor(reason: SecretUnusable['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

type Row = {
  name: string;
  secret_type: string;
  ends_at: Date | null;
  strict: boolean;
  allowed_hosts: string[] | null;
  environment: string;
  value_id: string | null;
  value_ct: Buffer | null;
  cek_wrapped: Buffer | null;
  tmk_version: number | null;
};

/**
 * The value of a secret for one host, for the processes that have no snapshot: probes of MCP servers and token endpoints. The order of the checks is that of
 * interface rule 30 §6. `environment` null is the default one; `url` null is for a value that is compared and sent nowhere. @throws SecretUnusable
 */
export async function openedSecret(
  space: Pick<HotCtx, 'tenant_id' | 'sandbox'>,
  { id, environment, url, now }: { id: string; environment: string | null; url: string | null; now: Date },
): Promise<Sensitive<string>> {
  const [row] = await ownRows<Row>(space, SECRET, id, environment);
  if (!row) throw new SecretUnusable('missing', 'The secret no longer exists.');
  if (row.secret_type !== 'string')
    throw new SecretUnusable('not_injectable', `The secret ${row.name} is of a type that can't be injected.`);
  if (url !== null && row.allowed_hosts && !mayGoTo(row.allowed_hosts, url))
    throw new SecretUnusable('host_not_allowed', `The secret ${row.name} must not be sent to ${URL.parse(url)?.host ?? 'this host'}.`);
  if (!row.value_id || !row.value_ct || !row.cek_wrapped || row.tmk_version === null)
    throw new SecretUnusable('environment_missing', `The secret ${row.name} has no value for the environment ${row.environment}.`);
  if (row.ends_at !== null && row.ends_at <= now && row.strict)
    throw new SecretUnusable('expired', `The secret ${row.name} has expired in the environment ${row.environment}.`);
  const place = { tenant_id: space.tenant_id, space: spaceOf(space.sandbox), purpose: 'secret_value', row_id: row.value_id } as const;
  const sealed = { value_ct: row.value_ct, cek_wrapped: row.cek_wrapped, tmk_version: row.tmk_version };
  const bytes = await keyring()
    .openValue(place, sealed)
    .catch((error: unknown) => {
      if (!(error instanceof TenantKeyUnavailable || error instanceof DecryptFailed)) throw error;
      throw new SecretUnusable('sealed', "This workspace's encryption key is unavailable. Try again later.");
    });
  try {
    return new Sensitive(bytes.toString('utf8'));
  } finally {
    bytes.fill(0);
  }
}

/** Pinned secrets leave only over https to port 443 of a named host (interface rule 30 §13); the operator's test hosts are exempt from the port. */
function mayGoTo(pins: readonly string[], url: string): boolean {
  const target = URL.parse(url);
  if (!target) return false;
  const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port;
  const usual = target.protocol === 'https:' && port === '443';
  if (!usual && !egress().settings.testHosts.has(`${target.hostname}:${port}`)) return false;
  const parent = target.hostname.slice(target.hostname.indexOf('.'));
  return pins.some((pin) => (pin.startsWith('*.') ? parent === pin.slice(1) : pin === target.hostname));
}

const SECRET = ownQuery(
  'custody-mcp-secret',
  `select s.shortcode_name as name, s.secret_type, coalesce(e.expires_at_override, s.expires_at) as ends_at, s.strict_expiry_enforcement as strict, s.allowed_hosts,
     n.name as environment, v.id as value_id, v.value_ct, v.cek_wrapped, v.tmk_version
   from secrets s
   join environments n on n.tenant_id = $1 and n.sandbox = $2 and case when $4::text is null then n.is_default else n.name = $4 end
   left join secret_environments e on e.secret_id = s.id and e.environment_name = n.name and e.tenant_id = $1 and e.sandbox = $2
   left join secret_values v on v.id = e.current_value_id and v.secret_environment_id = e.id
   where s.id = $3::uuid and s.tenant_id = $1 and s.sandbox = $2`,
);

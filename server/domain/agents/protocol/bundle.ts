import { type KeyObject, signDocument, wrapForAgent, wrapValueForAgent } from '#server/crypto/agent-keys.ts';
import { contentFingerprint } from '#server/crypto/canonical-json.ts';
import { planLimit } from '#server/domain/plans/schema.ts';
import { hasFeature } from '#server/domain/plans/service.ts';
import { type EffectiveConfig, effectiveConfig } from '#server/domain/routes/service.ts';
import { listReferences, parseTemplate } from '#server/domain/templates/grammar.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { keyring } from '#server/platform/keys.ts';
import { decryptsThere } from '../modes.shared.ts';
import type { AgentCaller } from './caller.ts';
import { coveredRoutes, dbListeners, environmentOf, interceptRules } from './covered.ts';

export type Times = { window: string; issued_at: string; expires_at: string };

/**
 * What the agent gets for one window (interface rule 63 §5.3): only what its mode and its routes need, of its own space. Values are encrypted anew under the
 * window's key, which is derived on both sides and stored on neither. `etag` names the content, so that it stays while nothing changed.
 */
export async function bundleOf(ctx: Ctx, agent: AgentCaller, key: KeyObject, signer: KeyObject, times: Times) {
  const content = await read(ctx, (tx) => contentOf(tx, ctx, agent));
  const { sealed, material, ...plain } = content;
  const secrets = await Promise.all(sealed.map((row) => secretFor(agent, key, times.window, row)));
  const transit_keys = await Promise.all(material.map((row) => transitKeyFor(agent, key, times.window, row)));
  const about = aboutOf(agent);
  const named = fingerprintOf(agent, content);
  const etag = contentFingerprint({ content: named, window: times.window });
  const unsigned = { ...about, ...times, ...plain, secrets, transit_keys, content: named, etag };
  return { ...unsigned, sig: signDocument(signer, unsigned) };
}

/** Names what the bundle of now holds, whatever its window: an agent whose bundle holds something else fetches a newer one. */
export const bundleContent = (tx: Tx, ctx: Ctx, agent: AgentCaller): Promise<string> =>
  contentOf(tx, ctx, agent).then((content) => fingerprintOf(agent, content));

const aboutOf = (agent: AgentCaller) => ({
  ...{ v: 1, agent_id: agent.agent_id, tenant_id: agent.tenant_id, sandbox: agent.sandbox, mode: agent.mode },
});

/** Values by the ID of each, which changes with it. */
function fingerprintOf(agent: AgentCaller, { sealed, material, ...plain }: Awaited<ReturnType<typeof contentOf>>): string {
  const secrets = sealed.map(({ value_id, name, environment, allowed_hosts }) => ({ value_id, name, environment, allowed_hosts }));
  return contentFingerprint({ ...aboutOf(agent), ...plain, secrets, material: material.map(({ id, status }) => `${id} ${status}`) });
}

async function contentOf(tx: Tx, ctx: Ctx, agent: AgentCaller) {
  const environment = await environmentOf(tx, ctx, agent);
  const limits = {
    requests_per_second: planLimit(agent.plan, 'tenant_rps'),
    // For how long it may go on with an expired bundle while the service can't be reached; the host's own setting may be less.
    offline_grace_hours: hasFeature(agent, 'offline_grace') ? 24 : 0,
  };
  const nothing = { environment, routes: [], clients: [], intercept_rules: [], db_listeners: [], sealed: [], material: [], limits };
  if (agent.mode === 'control') return nothing;
  const [rules, listeners] = [await interceptRules(tx, ctx, agent, environment), await dbListeners(tx, ctx, agent)];
  const named = [...rules.map(({ secret_id }) => secret_id), ...listeners.map((one) => one.credential_secret_id)];
  const shared = { ...nothing, intercept_rules: rules, db_listeners: listeners };
  if (!decryptsThere(agent.mode)) {
    const environments = [environment, ...rules.map((rule) => rule.environment)];
    const routes = (await coveredRoutes({ ...ctx, tx }, agent, environment)).map((entry) => ({
      ...{ id: entry.route_id, slug: entry.slug, host: entry.host, base_path: entry.base_path, environment },
      ...{ target_base_url: null, allowed_methods: entry.allowed_methods, requires_clients: entry.requires_clients },
      ...{ injection_rules: null, timeouts: null, intercept: true },
    }));
    return { ...shared, routes, sealed: await sealedValues(tx, ctx, environments, named) };
  }
  const routes = await servedRoutes(tx, ctx, agent, environment);
  const only = agent.allowed_route_ids.length === 0 ? null : [...named, ...(await secretsOf(tx, ctx, agent.allowed_route_ids))];
  return {
    ...shared,
    routes,
    clients: await clientsOf(tx, ctx),
    sealed: await sealedValues(tx, ctx, [environment, ...rules.map((rule) => rule.environment)], only),
    material: await bundledVersions(tx, ctx),
  };
}

async function servedRoutes(tx: Tx, ctx: Ctx, { allowed_route_ids }: AgentCaller, environment: string) {
  const rows = await tx.routes.findMany({
    where: { ...own(ctx), enabled: true, managed_by: null, ...(allowed_route_ids.length > 0 ? { id: { in: allowed_route_ids } } : {}) },
    include: {
      configs: { where: { OR: [{ is_base: true }, { environment_name: environment }] } },
      assignments: { where: { environment: { name: environment } }, select: { client_id: true } },
      field_actions: { select: { id: true }, take: 1 },
    },
    orderBy: { id: 'asc' },
  });
  return rows.flatMap((route) => {
    const base = route.configs.find((config) => config.is_base);
    const here = route.configs.find((config) => config.environment_name === environment);
    if (!base || !here) return [];
    const config = effectiveConfig(base, here.is_base ? null : here);
    if (!config.enabled) return [];
    const target = targetOf(config.target_base_url);
    return [
      {
        ...{
          id: route.id,
          name: route.name,
          slug: route.slug,
          host: target?.hostname ?? null,
          base_path: target?.pathname ?? null,
          environment,
        },
        target_base_url: config.target_base_url,
        allowed_methods: config.http_method_restrictions_enabled ? (config.allowed_methods ?? []) : null,
        requires_clients: config.requires_clients,
        client_ids: route.assignments.map(({ client_id }) => client_id).sort(),
        ip_allowlist: config.ip_allowlist,
        rate_limit: limitOf(config),
        unserved: unservedBy(config, route.field_actions.length > 0),
        injection_rules: { headers: config.inject_headers_json, query: config.inject_query_json, body: config.inject_body_json },
        timeouts: { timeout_ms: config.timeout_ms, retry_attempts: config.retry_attempts },
        intercept: config.intercept_enabled,
      },
    ];
  });
}

const limitOf = ({
  rate_limit_enabled,
  rate_limit_requests: requests,
  rate_limit_window_sec: window_sec,
  rate_limit_per_client,
}: EffectiveConfig) =>
  rate_limit_enabled && requests !== null && window_sec !== null ? { requests, window_sec, per_client: rate_limit_per_client } : null;

/**
 * The setting that a data plane in the customer's network can't carry out as the service does; null when there is none. It refuses calls of such a route:
 * served without it, the route would let through, or send, what it must not.
 */
function unservedBy(config: EffectiveConfig, acts: boolean): string | null {
  const texts = [...Object.values(config.inject_headers_json), ...Object.values(config.inject_query_json)];
  if (targetOf(config.target_base_url) === null) return 'placeholders in target_base_url';
  if (config.require_signature) return 'require_signature';
  if (config.use_method_specific_configs) return 'method_configs';
  if (config.mtls_certificate_id !== null || config.upstream_ca_certificate_id !== null) return 'certificates of its own';
  if (config.upstream_auth !== null) return 'upstream_auth';
  if (config.upstream_protocol !== 'http1') return 'upstream_protocol';
  if (Object.keys(config.inject_body_json).length > 0) return 'inject_body_json';
  if (acts) return 'field actions';
  return texts.every((text) => text === null || isServed(text)) ? null : 'placeholders that only the service knows';
}

const THERE: readonly string[] = ['environment', 'route.name', 'route.slug', 'route.id', 'tenant_id', 'request_id', 'timestamp'];

function isServed(text: string): boolean {
  const parsed = parseTemplate(text);
  return (
    parsed.ok &&
    listReferences(parsed.template).every(
      (reference) =>
        reference.kind === 'secret' || reference.kind === 'secret_id' || (reference.kind === 'context' && THERE.includes(reference.name)),
    )
  );
}

/** Null for an address with placeholders, which is known only at the call. */
function targetOf(address: string): URL | null {
  return address.includes('{{') ? null : URL.parse(address);
}

const secretsOf = async (tx: Tx, ctx: Ctx, routes: readonly string[]): Promise<string[]> =>
  (
    await tx.secret_references.findMany({
      where: { ...own(ctx), referrer_id: { in: [...routes] } },
      select: { secret_id: true },
      distinct: ['secret_id'],
    })
  ).map(({ secret_id }) => secret_id);

async function clientsOf(tx: Tx, ctx: Ctx) {
  const rows = await tx.clients.findMany({
    where: { ...own(ctx), enabled: true },
    select: { id: true, name: true, credentials: { where: { enabled: true, kind: 'ip' }, select: { ip_range: true } } },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id, name, credentials }) => ({ id, name, ip_ranges: credentials.flatMap(({ ip_range }) => ip_range ?? []) }));
}

type SealedSecret = {
  id: string;
  name: string;
  environment: string;
  version: number;
  allowed_hosts: string[] | null;
  value_id: string;
  value_ct: Uint8Array;
  cek_wrapped: Uint8Array;
  tmk_version: number;
};

/**
 * Current values of this space. Left out: what another workspace shares (it may be used here and nowhere else), connections that the service itself renews,
 * wrap credentials, and what has ended strictly.
 */
const sealedValues = (tx: Tx, ctx: Ctx, environments: readonly string[], only: readonly string[] | null) =>
  tx.$queryRaw<SealedSecret[]>`
    select s.id, s.shortcode_name as name, e.environment_name as environment, e.value_version as version, s.allowed_hosts, v.id as value_id, v.value_ct, v.cek_wrapped, v.tmk_version
    from secrets s join secret_environments e on e.secret_id = s.id join secret_values v on v.id = e.current_value_id and v.secret_environment_id = e.id
    where s.tenant_id = ${ctx.tenant_id}::uuid and s.sandbox = ${ctx.sandbox} and s.linked_share_id is null and not s.is_escrow
      and s.secret_type in ('string', 'certificate') and e.environment_name = any(${[...new Set(environments)]}::text[])
      and (${only === null} or s.id = any(${only ?? []}::uuid[]))
      and v.value_ct is not null and v.cek_wrapped is not null
      and not (s.strict_expiry_enforcement and coalesce(e.expires_at_override, s.expires_at) < ${ctx.now}::timestamptz)
    order by s.id, e.environment_name`;

/** The value under a key of its own, and that key under the window's: opening one says nothing of another. */
async function secretFor(agent: AgentCaller, key: KeyObject, window: string, row: SealedSecret) {
  const { value_ct, cek_wrapped, tmk_version } = row;
  const place = { tenant_id: agent.tenant_id, space: spaceOf(agent.sandbox), purpose: 'secret_value' as const, row_id: row.value_id };
  const value = await keyring().openValue(place, { value_ct, cek_wrapped, tmk_version });
  const aad = `${agent.tenant_id}|${agent.agent_id}|${row.id}|${row.version}|${window}`;
  try {
    const { id, name, environment, version, allowed_hosts } = row;
    return { id, name, environment, version, allowed_hosts, alg: 'A256GCM', ...wrapValueForAgent(key, aad, value), aad };
  } finally {
    value.fill(0);
  }
}

type KeyVersion = {
  id: string;
  key_id: string;
  name: string;
  key_type: string;
  version: number;
  status: string;
  value_ct: Uint8Array;
  cek_wrapped: Uint8Array;
  tmk_version: number;
};

/** Active and retired versions of keys of mode bundled (interface rule 40 §1.4); what is destroyed, or about to be, is not among them. */
const bundledVersions = (tx: Tx, ctx: Ctx) =>
  tx.$queryRaw<KeyVersion[]>`
    select v.id, k.id as key_id, k.name, k.key_type, v.version, v.status, v.value_ct, v.cek_wrapped, v.tmk_version
    from crypto_keys k join crypto_key_versions v on v.key_id = k.id
    where k.tenant_id = ${ctx.tenant_id}::uuid and k.sandbox = ${ctx.sandbox} and k.mode = 'bundled' and k.deleted_at is null
      and v.status in ('active', 'retired') and v.destroy_after is null and v.value_ct is not null and v.cek_wrapped is not null
    order by k.id, v.version`;

async function transitKeyFor(agent: AgentCaller, key: KeyObject, window: string, row: KeyVersion) {
  const { value_ct, cek_wrapped, tmk_version } = row;
  const place = { tenant_id: agent.tenant_id, space: spaceOf(agent.sandbox), purpose: 'transit_key' as const, row_id: row.id };
  const bytes = await keyring().openValue(place, { value_ct, cek_wrapped, tmk_version });
  const aad = `${agent.tenant_id}|${agent.agent_id}|${row.key_id}|${row.version}|${window}`;
  try {
    const { nonce, ciphertext } = wrapForAgent(key, aad, bytes);
    const { key_id, name, key_type, version, status } = row;
    return { key_id, name, key_type, version, status, alg: 'A256GCM', wrapped: ciphertext, wrap_nonce: nonce, aad };
  } finally {
    bytes.fill(0);
  }
}

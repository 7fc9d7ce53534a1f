import { sealUnder } from '#server/crypto/envelope.ts';
import { randomBase62 } from '#server/crypto/random.ts';
import { unwrapTenantKey } from '#server/crypto/tenant-key.ts';
import { insertKey } from '#server/domain/api-keys/service.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import type { Actor } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { ECHO_ORIGIN } from '#server/kernel/echo-origin.ts';
import { newId } from '#server/kernel/ids.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';

/** Our own echo endpoint: the gateway answers this origin itself, so the first call works without a network. */
const ECHO = ECHO_ORIGIN;
export const STARTER_ROUTE = 'echo';
export const STARTER_SECRET = 'SAMPLE_API_KEY';

/**
 * What a new workspace finds in Test (interface rule 64 §4): a route `echo` that puts a sample secret into the header X-Demo-Key. Runs in the
 * transaction that creates the workspace; the caller audits.
 */
export async function seedStarter(tx: Tx, tenantId: string, now: Date): Promise<{ route_id: string; secret_id: string }> {
  const place = { tenant_id: tenantId, sandbox: true };
  const environment = await tx.environments.findFirstOrThrow({ where: { ...place, is_default: true }, select: { id: true, name: true } });
  const secretId = await seedSecret(tx, place, environment.name, now);
  const routeId = newId();
  await tx.routes.create({
    data: {
      ...place,
      id: routeId,
      name: STARTER_ROUTE,
      slug: STARTER_ROUTE,
      base_environment_id: environment.id,
      created_at: now,
      updated_at: now,
    },
    select: { id: true },
  });
  await tx.route_environment_configs.create({
    data: {
      ...place,
      id: newId(),
      route_id: routeId,
      environment_id: environment.id,
      environment_name: environment.name,
      is_base: true,
      enabled: true,
      target_base_url: env.DEMO_UPSTREAM ?? ECHO,
      inject_headers_json: { 'X-Demo-Key': `{{secret:${STARTER_SECRET}}}` },
      created_at: now,
      updated_at: now,
    },
    select: { id: true },
  });
  await tx.secret_references.create({
    data: {
      ...place,
      id: newId(),
      secret_id: secretId,
      kind: 'route_environment',
      referrer_id: routeId,
      referrer_env: environment.name,
      field_path: 'inject_headers_json.X-Demo-Key',
      by: 'name',
    },
    select: { id: true },
  });
  return { route_id: routeId, secret_id: secretId };
}

/** A random value nobody has seen: what the upstream shows of it proves the injection. */
async function seedSecret(tx: Tx, place: { tenant_id: string; sandbox: boolean }, environment: string, now: Date): Promise<string> {
  const [secretId, environmentId, valueId] = [newId(), newId(), newId()];
  await tx.secrets.create({
    data: {
      ...place,
      id: secretId,
      name: STARTER_SECRET,
      shortcode_name: STARTER_SECRET,
      base_environment: environment,
      description: 'A sample value. The demo route sends it in the header X-Demo-Key, and it is never shown in a response.',
      tags: ['sample'],
      created_at: now,
      updated_at: now,
    },
    select: { id: true },
  });
  await tx.secret_environments.create({
    data: {
      ...place,
      id: environmentId,
      secret_id: secretId,
      environment_name: environment,
      value_version: 1,
      current_value_id: valueId,
      created_at: now,
      updated_at: now,
    },
    select: { id: true },
  });
  await tx.secret_values.create({
    data: {
      ...place,
      id: valueId,
      secret_environment_id: environmentId,
      value_version: 1,
      created_at: now,
      ...(await sealedSample(tx, place.tenant_id, valueId)),
    },
    select: { id: true },
  });
  return secretId;
}

/** The workspace's key is not committed yet, so the process-wide keyring, which reads on its own connection, cannot know it. */
async function sealedSample(tx: Tx, tenantId: string, rowId: string) {
  const { version, wrapped_key, root_key_id } = await tx.tenant_master_keys.findFirstOrThrow({
    where: { tenant_id: tenantId, status: 'active' },
    select: { version: true, wrapped_key: true, root_key_id: true },
  });
  if (!wrapped_key) throw new Error('a new workspace has a key of its own');
  const key = unwrapTenantKey(rootKeys(), tenantId, version, { wrapped_key, root_key_id: root_key_id ?? '' });
  const value = Buffer.from(`sample_${randomBase62(32)}`);
  try {
    return sealUnder({ version, key }, { tenant_id: tenantId, space: 'test', purpose: 'secret_value', row_id: rowId }, value);
  } finally {
    value.fill(0);
  }
}

/** The Test key a new workspace starts with: the runbook builds everything with it, so it may do all a machine may (interface rule 20 §7.3). */
export const mintStarterKey = (tx: Tx, tenantId: string, actor: Actor, now: Date) =>
  insertKey(
    tx,
    { tenant_id: tenantId, sandbox: true, actor, now },
    {
      name: 'Starter key',
      access: false,
      role_ids: KEY_ROLES.filter((role) => role.name === 'Key - Infrastructure').map((role) => role.id),
      scopes: null,
      expires_at: null,
      ip_allowlist: [],
      rate_limit_requests: null,
      rate_limit_window_sec: null,
    },
  );

/** The first call, ready to paste. */
export const firstCall = (slug: string, apiKey: string): string => `curl -sS ${starterUrl(slug)} -H 'X-Svc-Key: ${apiKey}'`;
export const starterUrl = (slug: string): string => `${proxyUrl(slug, 'test')}/${STARTER_ROUTE}/hello`;

/** The published description of the whole API. */
export const documentationUrl = (): string => `${env.PUBLIC_API_URL}/openapi.json`;

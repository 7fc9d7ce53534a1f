import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { decodeCertificate, type StoredCertificate } from '#server/custody/connections/certificates.ts';
import { type TlsMaterial, tlsContext } from '#server/platform/http-out/connector.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { log } from '#server/platform/log.ts';
import { type Refused, refused } from '../core/refusal.ts';
import type { Runtime } from '../core/runtime.ts';
import type { Secret, SecretValue, UpstreamTlsConfig } from '../snapshot/model.ts';
import { noteExpiredUse } from '../templates/expired-use.ts';
import { hostAllowed } from '../templates/resolve.ts';
import type { TemplateCall } from '../templates/template-call.ts';

type Result = Refused | undefined;
type Held = { secret: Secret; value: SecretValue };

/**
 * The certificates of a call's connection (interface rule 10 §11): what is presented to the upstream, and the only authorities that may have signed its own.
 * A value is opened once; another value has another identity, and so connections of its own.
 */
export function presentCertificates(call: TemplateCall, runtime: Runtime, config: UpstreamTlsConfig): Result | Promise<Result> {
  // Our own echo upstream has no connection to present anything on.
  if (call.echo) return undefined;
  if (call.upstream?.scheme !== 'https')
    return refused('route_misconfigured', "This route's certificates need an upstream that is called over https.");
  const client = config.certificateId === null ? null : heldFor(call, runtime, config.certificateId);
  if (client && 'code' in client) return client;
  const authority = config.caId === null ? null : heldFor(call, runtime, config.caId);
  if (authority && 'code' in authority) return authority;
  const tenantId = call.snapshot.tenant.id;
  const identity = `${client?.value.id ?? ''}/${authority?.value.id ?? ''}`;
  const known = runtime.tls.get(tenantId, identity);
  if (known) {
    call.upstreamTls = { identity, tls: known };
    return undefined;
  }
  const place = `${tenantId} ${call.snapshot.space} ${call.state.environmentName} ${config.certificateId ?? ''}/${config.caId ?? ''}`;
  return open(call, runtime, client, authority).then(
    (opened) => {
      if ('code' in opened) return opened;
      runtime.tls.set(tenantId, place, identity, opened);
      call.upstreamTls = { identity, tls: opened };
      return undefined;
    },
    (error: unknown) => notOpened(call, error),
  );
}

/** The order of the checks is that of interface rule 30 §6. */
function heldFor(call: TemplateCall, runtime: Runtime, id: string): Held | Refused {
  const secret = call.snapshot.secretById(id);
  if (!secret) return refused('secret_not_found', `The certificate ${id} doesn't exist.`);
  if (secret.link)
    return refused(
      'route_misconfigured',
      `The certificate ${secret.name} belongs to another workspace, which can't be presented by this one.`,
    );
  if (secret.type !== 'certificate') return refused('route_misconfigured', `The secret ${secret.name} is not a certificate.`);
  if (secret.allowedHosts && !hostAllowed(call, runtime, secret.allowedHosts))
    return refused('secret_host_not_allowed', `The secret ${secret.name} must not be used with ${call.upstream?.host ?? 'this host'}.`);
  const environment = call.state.environmentName;
  const value = secret.values.get(environment);
  if (!value) return refused('secret_environment_missing', `The secret ${secret.name} has no value for the environment ${environment}.`);
  const endsAt = Math.min(
    value.expiresAt ?? secret.expiresAt ?? Number.POSITIVE_INFINITY,
    value.certificateEndsAt ?? Number.POSITIVE_INFINITY,
  );
  if (endsAt <= call.receivedAt) {
    if (secret.strict) return refused('secret_expired', `The secret ${secret.name} has expired in the environment ${environment}.`);
    noteExpiredUse(call, secret, environment, endsAt);
  }
  return { secret, value };
}

async function open(call: TemplateCall, runtime: Runtime, client: Held | null, authority: Held | null): Promise<TlsMaterial | Refused> {
  const read = (held: Held) => runtime.secrets.open(call.snapshot.tenant.id, call.snapshot.space, held.value, decodeCertificate);
  const presented: StoredCertificate | null = client && (await read(client));
  const trusted = authority && (await read(authority));
  if (client && (presented?.private_key_pem ?? null) === null)
    return refused('route_misconfigured', `The certificate ${client.secret.name} has no private key.`);
  if (authority && (trusted?.certificate_pem ?? '') === '')
    return refused('route_misconfigured', `The secret ${authority.secret.name} has no certificate to trust.`);
  return tlsContext({
    ...(presented ? { cert: presented.certificate_pem, key: presented.private_key_pem ?? undefined } : {}),
    ...(trusted ? { ca: trusted.certificate_pem } : {}),
  });
}

function notOpened(call: TemplateCall, error: unknown): Refused {
  if (error instanceof TenantKeyUnavailable)
    return refused('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { cause: error });
  if (error instanceof UpstreamFault) return refused('route_misconfigured', error.message, { cause: error });
  log.error({ err: error, request_id: call.requestId, alert: true }, 'failed to open a certificate');
  return refused('secret_decrypt_failed', 'A certificate of this route could not be decrypted.', { cause: error });
}

import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { type Connection, lifeLeft, NotConnected, TokenUnavailable } from '#server/custody/connections/connection.ts';
import { FRESH_MS, newerConnection, refreshSoon, USABLE_MS, usableConnection } from '#server/custody/connections/connections.ts';
import { accessTokenIn } from '#server/custody/connections/token-set.ts';
import { redactedMark } from '#server/custody/redaction/redaction.ts';
import { MAX_PLACEHOLDERS, MAX_SECRETS, printReference, type Reference } from '#server/domain/templates/grammar.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { log } from '#server/platform/log.ts';
import { subjectsOf } from '../core/call.ts';
import { deniedByPolicy } from '../core/denied-by-policy.ts';
import { type Refused, refused } from '../core/refusal.ts';
import type { Runtime } from '../core/runtime.ts';
import type { SealedValue, Secret, SecretConnection, SecretLink, SecretValue } from '../snapshot/model.ts';
import { valueIn } from '../snapshot/secrets.ts';
import { noteExpiredUse } from './expired-use.ts';
import type { Resolution } from './resolution.ts';
import type { TemplateCall } from './template-call.ts';

/** Who wrote the template: the configuration may use any secret, a caller's body only what the route's guard opens (interface rule 10 §7.4). */
export type Author = 'configuration' | 'caller';

/** Resolves all references into the resolution, waiting only for a tenant key that is not in memory. The first that fails refuses the call. */
export function resolve(
  call: TemplateCall,
  runtime: Runtime,
  references: readonly Reference[],
  author: Author,
  into: Resolution,
  from = 0,
): Refused | undefined | Promise<Refused | undefined> {
  if (from === 0) into.placeholders += references.length;
  if (into.placeholders > MAX_PLACEHOLDERS)
    return refused('template_invalid', `The call must not use more than ${MAX_PLACEHOLDERS} placeholders.`);
  const values = into[author];
  for (let i = from; i < references.length; i++) {
    const reference = references[i] as Reference;
    if (values.has(reference)) continue;
    const found = resolveOne(call, runtime, reference, author, into);
    if (found instanceof Promise) {
      return found.then((value) => {
        if (typeof value !== 'string') return value;
        keep(call, reference, value, author, into);
        return resolve(call, runtime, references, author, into, i + 1);
      });
    }
    if (typeof found !== 'string') return found;
    keep(call, reference, found, author, into);
  }
  return undefined;
}

function keep(call: TemplateCall, reference: Reference, value: string, author: Author, into: Resolution): void {
  into[author].set(reference, value);
  into.shown?.[author].set(reference, markOf(call, reference) ?? value);
}

/** What stands for the value of a secret, or undefined when the reference is to something else. */
function markOf({ snapshot, state: { route } }: TemplateCall, reference: Reference): string | undefined {
  const variable =
    reference.kind === 'var' ? snapshot.variable(reference.collection, reference.key, route?.collectionId ?? null) : undefined;
  const secret =
    reference.kind === 'secret'
      ? snapshot.secretByName(reference.name)
      : reference.kind === 'secret_id'
        ? snapshot.secretById(reference.id)
        : variable && variable.type !== 'value'
          ? snapshot.secretById(variable.secretId)
          : undefined;
  return secret && redactedMark(secret.name);
}

type Found = string | Refused;

function resolveOne(call: TemplateCall, runtime: Runtime, reference: Reference, author: Author, into: Resolution): Found | Promise<Found> {
  switch (reference.kind) {
    case 'context':
      return contextValue(call, reference.name, reference.parameter);
    case 'var': {
      const variable = call.snapshot.variable(reference.collection, reference.key, call.state.route?.collectionId ?? null);
      if (!variable || (author === 'caller' && !opened(call, variable.collectionId)))
        return refused('template_invalid', `The variable ${printReference(reference)} doesn't exist for this route.`);
      return variable.type === 'value'
        ? variable.value
        : secretValue(call, runtime, call.snapshot.secretById(variable.secretId), variable.secretId, author, into);
    }
    case 'secret':
      return secretValue(call, runtime, call.snapshot.secretByName(reference.name), reference.name, author, into);
    case 'secret_id':
      return secretValue(call, runtime, call.snapshot.secretById(reference.id), reference.id, author, into);
  }
}

/** The order of the checks is that of interface rule 30 §6: the first fault answers. */
function secretValue(
  call: TemplateCall,
  runtime: Runtime,
  secret: Secret | undefined,
  asked: string,
  author: Author,
  into: Resolution,
): Found | Promise<Found> {
  if (!secret || (author === 'caller' && !opened(call, secret.collectionId)))
    return refused('secret_not_found', `The secret ${asked} doesn't exist.`);
  const hidden = author === 'caller' ? call.snapshot.policyHiding(subjectsOf(call), secret) : null;
  if (hidden) return deniedByPolicy(call, hidden, 'secret:read');
  const { link } = secret;
  if (link && !(link.active && call.receivedAt < link.endsAt)) return shareRevoked(secret);
  if (secret.type !== 'string' && secret.type !== 'oauth2')
    return refused('secret_type_not_injectable', `The secret ${secret.name} is of a type that can't be injected.`);
  if (![secret.allowedHosts, link?.ownerHosts ?? null].every((pins) => pins === null || hostAllowed(call, runtime, pins)))
    return refused('secret_host_not_allowed', `The secret ${secret.name} must not be sent to ${call.upstream?.host ?? 'this host'}.`);
  const environment = link?.environment ?? call.state.environmentName;
  const value = valueIn(secret, environment);
  if (!value) return refused('secret_environment_missing', `The secret ${secret.name} has no value for the environment ${environment}.`);
  const expiresAt = value.expiresAt ?? secret.expiresAt;
  if (expiresAt !== null && expiresAt <= call.receivedAt) {
    if (secret.strict) return refused('secret_expired', `The secret ${secret.name} has expired in the environment ${environment}.`);
    noteExpiredUse(call, secret, environment, expiresAt);
  }
  if (!into.secrets.has(secret.name) && into.secrets.size >= MAX_SECRETS)
    return refused('template_invalid', `The call must not use more than ${MAX_SECRETS} different secrets.`);
  const connected = value.connection !== null;
  if (connected !== (secret.type === 'oauth2'))
    return refused('oauth2_not_connected', `The secret ${secret.name} is not connected to its provider.`);
  return link
    ? whileShared(call, runtime, secret, link, () => opening(call, runtime, secret, value, into))
    : opening(call, runtime, secret, value, into);
}

/** A shared value opens only while the share is known to stand, and each time it does is counted for the owner. */
function whileShared(
  call: TemplateCall,
  runtime: Runtime,
  secret: Secret,
  link: SecretLink,
  work: () => Found | Promise<Found>,
): Found | Promise<Found> {
  const counted = () => {
    if (call.upstream && !call.echo) runtime.shares.used(link.shareId, call.upstream.host);
    return work();
  };
  const stands = runtime.shares.stands(link.shareId);
  if (stands === true) return counted();
  return stands.then(
    (active) => (active ? counted() : shareRevoked(secret)),
    (cause: unknown) =>
      refused('dependency_unavailable', `It can't be checked whether the secret ${secret.name} is still shared. Try again.`, { cause }),
  );
}

const shareRevoked = ({ name }: Secret): Refused => refused('share_revoked', `The secret ${name} is no longer shared with this workspace.`);

function opening(call: TemplateCall, runtime: Runtime, secret: Secret, value: SecretValue, into: Resolution): Found | Promise<Found> {
  const connected = value.connection !== null;
  const took = (bytes: Buffer): string => {
    const text = connected ? accessTokenIn(bytes) : bytes.toString('utf8');
    into.secrets.set(secret.name, text);
    if (secret.link?.level === 'use' || into.hidesAll) into.useOnly.set(secret.name, text);
    // Our own echo upstream answers what it was sent: with it, a credential that may only call routes, or write them, would read secrets back.
    return call.echo ? redactedMark(secret.name) : text;
  };
  try {
    const found = connected ? withToken(call, runtime, secret, value, took) : open(call, runtime, value, took);
    return found instanceof Promise ? found.catch((error: unknown) => notOpened(call, secret, error)) : found;
  } catch (error) {
    return notOpened(call, secret, error);
  }
}

const open = (call: TemplateCall, runtime: Runtime, value: SealedValue, took: (bytes: Buffer) => string): string | Promise<string> =>
  runtime.secrets.open(call.snapshot.tenant.id, call.snapshot.space, value, took);

/** The token of a connection: that of the snapshot while it lasts, without asking anybody (interface rule 30 §10.4). */
function withToken(
  call: TemplateCall,
  runtime: Runtime,
  secret: Secret,
  value: SecretValue,
  took: (bytes: Buffer) => string,
): Found | Promise<Found> {
  const { id, status, tokenExpiresAt, generation } = value.connection as SecretConnection;
  const { tenant, sandbox } = call.snapshot;
  const { link } = secret;
  const environment = link?.environment ?? call.state.environmentName;
  const space = { tenant_id: link?.ownerId ?? tenant.id, sandbox };
  const ref = { secretId: link?.secretId ?? secret.id, environment };
  const note = (generation: number): void => {
    // Tokens of another workspace are not fetched anew because an upstream of this one refuses them.
    if (!link) noteConnection(call, secret.id, environment, generation);
  };
  const use = (connection: Connection): string | Promise<string> => {
    note(connection.generation);
    const sealed = { id: connection.value_id, sealed: connection.value as SealedValue['sealed'] };
    return open(call, runtime, link ? { ...sealed, tenantId: link.ownerId } : sealed, took);
  };
  const newer = newerConnection(id, generation);
  const left = lifeLeft(newer ? newer.expires_at : tokenExpiresAt, call.receivedAt);
  const known = newer ? newer.status : status;
  if ((known === 'connected' || known === 'error') && left > USABLE_MS) {
    if (left <= FRESH_MS) refreshSoon(space, ref);
    if (newer) return use(newer);
    note(generation);
    return open(call, runtime, value, took);
  }
  return usableConnection(space, ref).then(use, (error: unknown) => noToken(call, secret, error));
}

/** Which tokens the call was given, in case its upstream refuses them. */
function noteConnection(call: TemplateCall, secretId: string, environment: string, generation: number): void {
  call.connections = [...(call.connections ?? []), { secretId, environment, generation }];
}

function noToken(call: TemplateCall, secret: Secret, error: unknown): Refused {
  if (error instanceof NotConnected) return refused('oauth2_not_connected', error.message);
  if (error instanceof TokenUnavailable) return refused('oauth2_token_unavailable', error.message);
  if (error instanceof Refusal && error.type === 'tenant_sealed')
    return refused('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { cause: error });
  log.warn({ err: error, request_id: call.requestId, secret_id: secret.id }, 'a connection could not be read');
  return refused('oauth2_token_unavailable', `No access token for the secret ${secret.name} could be obtained. Try again shortly.`, {
    cause: error,
  });
}

function notOpened(call: TemplateCall, secret: Secret, error: unknown): Refused {
  if (error instanceof TenantKeyUnavailable)
    return refused('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { cause: error });
  log.error({ err: error, request_id: call.requestId, secret_id: secret.id, alert: true }, 'failed to decrypt a secret');
  const message = `The secret ${secret.name} could not be decrypted.`;
  return refused(error instanceof DecryptFailed ? 'secret_decrypt_failed' : 'tenant_sealed', message, { cause: error });
}

/** What a caller's placeholder may reach: everything, or the route's own collection and what is in none. */
function opened(call: TemplateCall, collectionId: string | null): boolean {
  return (
    call.state.config?.bodyPlaceholders === 'all' || collectionId === null || collectionId === (call.state.route?.collectionId ?? null)
  );
}

/** Pinned secrets leave only over https to port 443 of a named host (interface rule 30 §13); the operator's test hosts are exempt from the port. */
export function hostAllowed(call: TemplateCall, runtime: Runtime, pins: readonly string[]): boolean {
  const target = call.upstream;
  if (!target || call.echo) return false;
  const usual = target.scheme === 'https' && target.port === 443;
  if (!usual && !runtime.resolver.settings.testHosts.has(`${target.host}:${target.port}`)) return false;
  return pins.some((pin) => {
    if (!pin.startsWith('*.')) return pin === target.host;
    const dot = target.host.indexOf('.');
    return dot > 0 && target.host.slice(dot) === pin.slice(1);
  });
}

function contextValue(call: TemplateCall, name: string, parameter: string): string {
  switch (name) {
    case 'environment':
      return call.state.environmentName;
    case 'route.name':
      return call.state.route?.name ?? '';
    case 'route.slug':
      return call.state.route?.slug ?? '';
    case 'route.id':
      return call.state.route?.id ?? '';
    case 'tenant_id':
      return call.snapshot.tenant.id;
    case 'request_id':
      return call.requestId;
    case 'timestamp':
      return String(Math.floor(call.receivedAt / 1000));
    case 'client.id':
      return call.client?.client.id ?? '';
    case 'client.name':
      return call.client?.client.name ?? '';
    case 'vars':
      return new URLSearchParams(call.state.query ?? '').get(parameter) ?? '';
    default:
      return '';
  }
}

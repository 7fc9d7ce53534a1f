import type { z } from 'zod';
import { clientTls } from '#server/custody/connections/certificates.ts';
import { type Grant, type GrantedTokens, requestTokens } from '#server/custody/connections/token-endpoint.ts';
import type { TokenSet } from '#server/custody/connections/token-set.ts';
import { defaultEnvironment } from '#server/domain/environments/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { isInteractive, type Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import { TokenFault } from '#server/platform/connect/oauth2.ts';
import { insertSealed } from '../service.ts';
import { openConsent } from './consents.ts';
import type { CreateConnection } from './schema.ts';
import { redirectUriOf, settingsOf } from './settings.ts';
import { endOf, sealTokenSet, tokensOf } from './token-values.ts';

type Input = z.output<typeof CreateConnection>;

/**
 * A secret whose value is fetched from a provider. A grant without a browser gets its first token here, and nothing is stored if the provider refuses; the
 * others begin as `pending`. @throws Refusal validation_error, plan_limit, plan_feature, conflict, tenant_sealed
 */
export async function createConnection(ctx: Ctx, input: Input) {
  requireCredentials(input);
  const config = await settingsOf(input);
  const environment = input.environment ?? (await read(ctx, (tx) => defaultEnvironment(tx, ctx))).name;
  await read(ctx, (tx) => requireClientCertificate(tx, ctx, config.mtls_certificate_id, environment));
  const { client_secret, username, password } = input;
  const credentials: TokenSet = { client_secret, username, password };
  const granted = isInteractive(config.grant_type) ? null : await firstTokens(ctx, config, credentials, environment);
  const sealed = await sealTokenSet(ctx, { ...credentials, ...(granted && tokensOf(granted)) });
  const connected = granted && { expires_at: endOf(granted, ctx.now) };
  const row = await mutate(ctx, async (tx) => {
    const inserted = await insertSealed(tx, ctx, { ...input, environment }, sealed, {
      secret_type: 'oauth2',
      oauth2_config: config,
      connected,
    });
    if (config.mtls_certificate_id !== null) await referTo(tx, ctx, inserted.row.id, config.mtls_certificate_id);
    return audited(inserted.row, {
      ...inserted.entry,
      details: { ...inserted.entry.details, provider: config.provider, grant_type: config.grant_type },
    });
  });
  const consent = isInteractive(config.grant_type) ? await openConsent(ctx, { ...row, environment, config }) : null;
  return {
    ...row,
    ...{ provider: config.provider, grant_type: config.grant_type, scopes: config.scopes },
    redirect_uri: consent ? redirectUriOf(row.id) : null,
    connection_status: granted ? ('connected' as const) : ('pending' as const),
    authorization_url: consent?.authorization_url ?? null,
  };
}

function requireCredentials(input: Input): void {
  const { grant_type, client_secret, mtls_certificate_id, username, password, token_endpoint_auth_method: method } = input;
  if (grant_type === 'password' && username === undefined) throw invalid('username', 'is required for the password grant');
  if (grant_type === 'password' && password === undefined) throw invalid('password', 'is required for the password grant');
  if (grant_type !== 'password' && (username !== undefined || password !== undefined))
    throw invalid(username === undefined ? 'password' : 'username', 'is only used by the password grant');
  const optional = grant_type === 'implicit' || grant_type === 'password' || mtls_certificate_id !== undefined;
  if (client_secret === undefined && !optional) throw invalid('client_secret', 'is required');
  if (client_secret !== undefined && grant_type === 'implicit') throw invalid('client_secret', 'is not used by the implicit grant');
  if (client_secret !== undefined && method === 'none')
    throw invalid('client_secret', 'is not sent when token_endpoint_auth_method is none');
  if (client_secret === undefined && method !== undefined && method !== 'none')
    throw invalid('token_endpoint_auth_method', 'needs client_secret');
}

/** @throws Refusal validation_error when the space has no such certificate with a private key */
export async function requireClientCertificate(tx: Tx, ctx: Ctx, id: string | null, environment: string): Promise<void> {
  if (id === null) return;
  const held = await tx.secret_environments.findFirst({
    where: { ...own(ctx), secret_id: id, environment_name: environment, secret: { secret_type: 'certificate' } },
    select: { cert_metadata: true },
  });
  const facts = held?.cert_metadata as { has_private_key?: boolean; chain_length?: number } | null | undefined;
  if (!facts?.has_private_key || !facts.chain_length)
    throw invalid('mtls_certificate_id', `must be a certificate secret with a private key in ${environment}`);
}

/** Deleting the certificate is refused while the connection names it. */
const referTo = (tx: Tx, ctx: Ctx, secretId: string, certificateId: string) =>
  tx.secret_references.create({
    data: {
      ...own(ctx),
      id: newId(),
      secret_id: certificateId,
      kind: 'oauth2_secret',
      referrer_id: secretId,
      field_path: 'mtls_certificate_id',
      by: 'id',
    },
    select: { id: true },
  });

/** The first tokens of a grant without a browser. @throws Refusal validation_error that names the provider's code */
export async function firstTokens(ctx: Ctx, config: Oauth2Config, credentials: TokenSet, environment: string): Promise<GrantedTokens> {
  const { username = '', password = '' } = credentials;
  const grant: Grant = config.grant_type === 'password' ? { type: 'password', username, password } : { type: 'client_credentials' };
  return exchanged(ctx, config, credentials, grant, environment);
}

/** @throws Refusal validation_error: nothing of the provider's answer but its code is told */
async function exchanged(ctx: Ctx, config: Oauth2Config, credentials: TokenSet, grant: Grant, environment: string): Promise<GrantedTokens> {
  const client = config.mtls_certificate_id === null ? undefined : await clientTls(ctx, config.mtls_certificate_id, environment);
  try {
    return await requestTokens({ tenant: ctx.tenant_id, space: spaceOf(ctx.sandbox) }, config, credentials, grant, client);
  } catch (error) {
    if (error instanceof TokenFault) throw invalid(fieldOf(error), `no token could be fetched. ${error.message}`);
    throw error;
  }
}

const fieldOf = ({ code }: TokenFault): string =>
  code === 'invalid_client' || code === 'unauthorized_client' ? 'client_secret' : code === 'invalid_scope' ? 'scopes' : 'token_url';

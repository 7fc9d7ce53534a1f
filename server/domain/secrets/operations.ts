import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import * as certificates from './certificates/certificates.ts';
import * as certificate from './certificates/schema.ts';
import { completeConsent, startConsent } from './connections/consents.ts';
import { createConnection } from './connections/create.ts';
import { disconnect, reconnect, updateConnection } from './connections/manage.ts';
import * as connection from './connections/schema.ts';
import { readToken } from './connections/tokens.ts';
import { CreatedSecret, CreateSecret } from './create.schema.ts';
import { createAnySecret } from './create.ts';
import * as values from './environment-values.ts';
import { importEnv } from './import-env.ts';
import { revealOfValue, revealValue } from './reveal.ts';
import * as schema from './schema.ts';
import * as secrets from './service.ts';
import { lockedSecret } from './store.ts';
import { secretUsage } from './usage.ts';
import { secretVersions } from './versions.ts';

export const list = operation({
  id: 'secrets.list',
  summary: 'List secrets',
  http: 'GET /secrets',
  kind: 'read',
  needs: ['secret:read'],
  refuses: [],
  input: schema.ListSecrets,
  output: z.array(schema.Secret),
  list: 'paged',
  run: (ctx, input) => secrets.listSecrets(ctx, input),
});

export const get = operation({
  id: 'secrets.get',
  summary: 'Get a secret',
  http: 'GET /secrets/{id}',
  kind: 'read',
  needs: ['secret:read'],
  refuses: ['not_found'],
  input: schema.SecretRef,
  output: schema.SecretDetail,
  run: (ctx, input) => secrets.getSecret(ctx, input),
});

export const create = operation({
  id: 'secrets.create',
  summary: 'Create a secret',
  http: 'POST /secrets',
  kind: 'change',
  needs: ['secret:create'],
  refuses: ['plan_limit', 'plan_feature', 'conflict', 'tenant_sealed'],
  input: CreateSecret,
  output: CreatedSecret,
  success: 201,
  run: (ctx, input) => createAnySecret(ctx, input),
});

export const update = operation({
  id: 'secrets.update',
  summary: 'Update a secret',
  http: 'PATCH /secrets/{id}',
  kind: 'change',
  needs: ['secret:update'],
  step_up: { by_verb: ['credential.move', 'protection.loosen'] },
  moves: { to: ['allowed_hosts'], credentials: [] },
  refuses: ['not_found', 'conflict', 'role_denied', ...MOVE_REFUSALS],
  input: schema.UpdateSecret,
  output: schema.UpdatedSecret,
  edits: { row: (tx, ctx, { id }) => lockedSecret(tx, ctx, id, { for: 'change' }), shown_by: get },
  run: (ctx, input) => secrets.updateSecret(ctx, input),
});

export const putValue = operation({
  id: 'secrets.put_value',
  summary: 'Set the value of a secret in an environment',
  http: 'PUT /secrets/{id}/value',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found', 'conflict', 'invalid_type', 'tenant_sealed'],
  input: schema.PutValue,
  output: schema.WrittenValue,
  run: (ctx, input) => secrets.putValue(ctx, input),
});

const remove = operation({
  id: 'secrets.delete',
  summary: 'Delete a secret',
  http: 'DELETE /secrets/{id}',
  kind: 'change',
  needs: ['secret:delete'],
  refuses: ['not_found', 'in_use'],
  input: schema.SecretRef,
  output: Deleted,
  run: (ctx, input) => secrets.deleteSecret(ctx, input),
});

export const updateEnvironment = operation({
  id: 'secrets.update_environment',
  summary: 'Set the expiry of a secret in an environment',
  http: 'PATCH /admin/secrets/{id}/environments/{env}',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found'],
  input: schema.UpdateSecretEnvironment,
  output: schema.SecretEnvironment,
  run: (ctx, input) => values.updateSecretEnvironment(ctx, input),
});

export const removeValue = operation({
  id: 'secrets.remove_value',
  summary: 'Delete the value of a secret in an environment',
  http: 'DELETE /admin/secrets/{id}/environments/{env}',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found', 'conflict'],
  input: schema.SecretEnvironmentRef,
  output: Deleted,
  run: (ctx, input) => values.removeValue(ctx, input),
});

export const restore = operation({
  id: 'secrets.restore',
  summary: 'Restore the previous value of a secret',
  http: 'POST /admin/secrets/{id}/restore',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found', 'conflict', 'invalid_type', 'role_denied', 'tenant_sealed'],
  input: schema.RestoreValue,
  output: schema.WrittenValue,
  run: (ctx, input) => values.restoreValue(ctx, input),
});

export const usage = operation({
  id: 'secrets.usage',
  summary: 'Show what uses a secret',
  http: 'GET /admin/secrets/{id}/usage',
  kind: 'read',
  needs: ['secret:read'],
  refuses: ['not_found'],
  input: schema.SecretRef,
  output: schema.SecretUsage,
  run: (ctx, input) => secretUsage(ctx, input),
});

export const versions = operation({
  id: 'secrets.versions',
  summary: "List the versions of a secret's values",
  http: 'GET /admin/secrets/{id}/versions',
  kind: 'read',
  needs: ['secret:read'],
  refuses: ['not_found'],
  input: schema.SecretRef,
  output: schema.SecretVersions,
  run: (ctx, input) => secretVersions(ctx, input),
});

export const reveal = operation({
  id: 'secrets.reveal',
  summary: 'Reveal the value of a secret in an environment',
  http: 'GET /admin/secrets/{id}/value',
  kind: 'reveal',
  needs: ['secret:reveal'],
  refuses: ['not_found', 'conflict', 'use_certificate_download', 'tenant_sealed', 'forbidden', 'share_use_only'],
  input: schema.RevealSecret,
  output: schema.RevealedSecret,
  reveal: revealOfValue,
  run: (ctx, input) => revealValue(ctx, input),
});

const importEnvFile = operation({
  id: 'secrets.import_env',
  summary: 'Create secrets from a .env file',
  http: 'POST /admin/secrets/import-env',
  kind: 'change',
  needs: ['secret:create'],
  refuses: ['plan_limit', 'conflict', 'tenant_sealed'],
  input: schema.ImportEnv,
  output: schema.ImportedEnv,
  run: (ctx, input) => importEnv(ctx, input),
});

export const createOauth2 = operation({
  id: 'secrets.create_oauth2',
  summary: 'Create an OAuth2 connection',
  http: 'POST /secrets/oauth2',
  kind: 'change',
  needs: ['secret:create'],
  feature: 'oauth2_secrets',
  refuses: ['plan_limit', 'conflict', 'tenant_sealed'],
  input: connection.CreateConnection,
  output: connection.CreatedConnection,
  success: 201,
  run: (ctx, input) => createConnection(ctx, input),
});

export const oauth2Token = operation({
  id: 'secrets.oauth2_token',
  summary: 'Get the access token of a connection',
  http: 'GET /secrets/{id}/oauth2/token',
  kind: 'use',
  needs: ['secret:read_oauth_token'],
  refuses: ['not_found', 'invalid_type', 'forbidden', 'token_error', 'tenant_sealed'],
  input: connection.ConnectionRef,
  output: connection.ConnectionToken,
  run: (ctx, input) => readToken(ctx, input),
});

export const authorize = operation({
  id: 'secrets.oauth2_authorize',
  summary: 'Start a consent for a connection',
  http: 'POST /secrets/{id}/oauth2/authorization-url',
  kind: 'change',
  needs: ['secret:update'],
  feature: 'oauth2_secrets',
  refuses: ['not_found', 'invalid_type', 'tenant_sealed'],
  input: connection.ConnectionRef,
  output: connection.AuthorizationUrl,
  run: (ctx, input) => startConsent(ctx, input),
});

export const updateOauth2 = operation({
  id: 'secrets.update_oauth2',
  summary: 'Replace the credentials of a connection',
  http: 'PUT /admin/secrets/{id}/oauth2',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found', 'invalid_type', 'conflict', 'tenant_sealed'],
  input: connection.UpdateConnection,
  output: connection.ConnectionState,
  run: (ctx, input) => updateConnection(ctx, input),
});

const disconnectOauth2 = operation({
  id: 'secrets.disconnect',
  summary: 'Disconnect a connection',
  http: 'POST /admin/secrets/{id}/oauth2/disconnect',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found', 'invalid_type', 'conflict', 'tenant_sealed'],
  input: connection.ConnectionRef,
  output: connection.ConnectionState,
  run: (ctx, input) => disconnect(ctx, input),
});

const reconnectOauth2 = operation({
  id: 'secrets.reconnect',
  summary: 'Connect a connection again',
  http: 'POST /admin/secrets/{id}/oauth2/reconnect',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found', 'invalid_type', 'conflict', 'tenant_sealed'],
  input: connection.ConnectionRef,
  output: connection.ConnectionState,
  run: (ctx, input) => reconnect(ctx, input),
});

export const completeOauth2 = operation({
  id: 'secrets.complete_oauth2',
  summary: 'Finish a consent in the session that began it',
  http: 'GET /admin/secrets/{id}/oauth2/complete',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  redirects: true,
  refuses: [],
  input: connection.CompleteConnection,
  output: connection.ConnectionRedirect,
  run: (ctx, input) => completeConsent(ctx, input),
});

export const createCertificate = operation({
  id: 'secrets.create_certificate',
  summary: 'Create a certificate',
  http: 'POST /secrets/certificate',
  kind: 'change',
  needs: ['secret:create'],
  refuses: ['plan_limit', 'conflict', 'tenant_sealed'],
  input: certificate.CreateCertificate,
  output: certificate.CreatedCertificate,
  success: 201,
  run: (ctx, input) => certificates.createCertificate(ctx, input),
});

export const updateCertificate = operation({
  id: 'secrets.update_certificate',
  summary: 'Replace a certificate in an environment',
  http: 'PUT /admin/secrets/{id}/certificate',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found', 'conflict', 'invalid_type', 'tenant_sealed'],
  input: certificate.UpdateCertificate,
  output: certificate.UpdatedCertificate,
  run: (ctx, input) => certificates.updateCertificate(ctx, input),
});

export const downloadCertificate = operation({
  id: 'secrets.download_certificate',
  summary: 'Download a certificate',
  http: 'GET /admin/secrets/{id}/certificate/download',
  kind: 'reveal',
  needs: ['secret:reveal'],
  refuses: ['not_found', 'invalid_type', 'tenant_sealed'],
  input: certificate.DownloadCertificate,
  output: z.string(),
  reveal: certificates.revealOfCertificate,
  stream: (ctx, input) => certificates.downloadCertificate(ctx, input),
  run: async (ctx, input) => textOf(await certificates.downloadCertificate(ctx, input)),
});

export { disconnectOauth2 as disconnect, importEnvFile as importEnv, reconnectOauth2 as reconnect, remove as delete };

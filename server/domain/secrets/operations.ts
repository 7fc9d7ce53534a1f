import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
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
  refuses: ['plan_limit', 'conflict', 'tenant_sealed'],
  input: schema.CreateSecret,
  output: schema.CreatedSecret,
  success: 201,
  run: (ctx, input) => secrets.createSecret(ctx, input),
});

export const update = operation({
  id: 'secrets.update',
  summary: 'Update a secret',
  http: 'PATCH /secrets/{id}',
  kind: 'change',
  needs: ['secret:update'],
  refuses: ['not_found', 'conflict'],
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
  refuses: ['not_found', 'tenant_sealed'],
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

export { importEnvFile as importEnv, remove as delete };

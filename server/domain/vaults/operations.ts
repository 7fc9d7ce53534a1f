import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { detokenize, detokenizeMany, tokenize, tokenizeMany } from './hot.ts';
import { importTokens } from './import.ts';
import { revealOfToken, revealOfTokens, revealToken, revealTokens } from './reveal.ts';
import * as schema from './schema.ts';
import * as vaults from './service.ts';
import { usageOfVaults } from './stats.ts';
import { exportTokens } from './token-export.ts';
import * as tokens from './tokens.ts';

export { detokenize, detokenizeMany, tokenize, tokenizeMany };

export const list = operation({
  id: 'vaults.list',
  summary: 'List vaults',
  http: 'GET /vaults',
  kind: 'read',
  needs: ['vault:read'],
  mirrored: true,
  refuses: [],
  input: schema.ListVaults,
  output: z.array(schema.Vault),
  list: 'paged',
  run: (ctx, input) => vaults.listVaults(ctx, input),
});

export const create = operation({
  id: 'vaults.create',
  summary: 'Create a vault',
  http: 'POST /vaults',
  kind: 'change',
  needs: ['vault:create'],
  mirrored: true,
  refuses: ['plan_limit', 'plan_feature', 'conflict', 'tenant_sealed'],
  input: schema.CreateVault,
  output: schema.Vault,
  success: 201,
  run: (ctx, input) => vaults.createVault(ctx, input),
});

export const get = operation({
  id: 'vaults.get',
  summary: 'Get a vault',
  http: 'GET /vaults/{vault}',
  kind: 'read',
  needs: ['vault:read'],
  mirrored: true,
  refuses: ['not_found'],
  input: schema.VaultRef,
  output: schema.VaultDetail,
  run: (ctx, input) => vaults.getVault(ctx, input),
});

export const update = operation({
  id: 'vaults.update',
  summary: 'Update a vault',
  http: 'PATCH /vaults/{vault}',
  kind: 'change',
  needs: ['vault:update'],
  mirrored: true,
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'conflict', 'mfa_required', 'step_up_required'],
  input: schema.UpdateVault,
  output: schema.Vault,
  edits: { row: (tx, ctx, { vault }) => vaults.lockedVault(tx, ctx, vault), shown_by: get },
  run: (ctx, input) => vaults.updateVault(ctx, input),
});

const remove = operation({
  id: 'vaults.delete',
  summary: 'Delete a vault',
  http: 'DELETE /vaults/{vault}',
  kind: 'change',
  needs: ['vault:delete'],
  mirrored: true,
  refuses: ['not_found', 'in_use'],
  input: schema.VaultRef,
  output: Deleted,
  run: (ctx, input) => vaults.deleteVault(ctx, input),
});

export const rotate = operation({
  id: 'vaults.rotate',
  summary: "Rotate a vault's key",
  http: 'POST /vaults/{vault}/rotate',
  kind: 'change',
  needs: ['vault:rotate'],
  mirrored: true,
  refuses: ['not_found', 'conflict', 'in_use', 'tenant_sealed'],
  input: schema.RotateVault,
  output: schema.RotatedVault,
  run: (ctx, input) => vaults.rotateVault(ctx, input),
});

export const usage = operation({
  id: 'vaults.usage',
  summary: 'Get the usage of each vault',
  http: 'GET /admin/vault-usage',
  kind: 'read',
  needs: ['vault:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.VaultUsage),
  list: 'whole',
  run: async (ctx) => wholeList(await usageOfVaults(ctx)),
});

export const listTokens = operation({
  id: 'vaults.list_tokens',
  summary: 'List the tokens of a vault',
  http: 'GET /vaults/{vault}/tokens',
  kind: 'read',
  needs: ['vault:list_tokens'],
  refuses: ['not_found'],
  input: schema.ListTokens,
  output: z.array(schema.ListedToken),
  list: 'paged',
  run: (ctx, input) => tokens.listTokens(ctx, input),
});

export const searchTokens = operation({
  id: 'vaults.search_tokens',
  summary: 'Search the tokens of a vault',
  http: 'POST /vaults/{vault}/tokens/search',
  kind: 'read',
  needs: ['vault:list_tokens'],
  refuses: ['not_found', 'tenant_sealed'],
  input: schema.SearchTokens,
  output: z.array(schema.ListedToken),
  list: 'paged',
  run: (ctx, input) => tokens.searchTokens(ctx, input),
});

export const updateToken = operation({
  id: 'vaults.update_token',
  summary: 'Update the metadata of a token',
  http: 'PATCH /vaults/{vault}/tokens/{token}',
  kind: 'change',
  needs: ['vault:update_token'],
  refuses: ['not_found'],
  input: schema.UpdateToken,
  output: schema.Updated,
  run: (ctx, input) => tokens.updateToken(ctx, input),
});

export const deleteToken = operation({
  id: 'vaults.delete_token',
  summary: 'Delete a token',
  http: 'DELETE /vaults/{vault}/tokens/{token}',
  kind: 'change',
  needs: ['vault:delete_token'],
  mirrored: true,
  refuses: ['not_found'],
  input: schema.TokenRef,
  output: Deleted,
  run: (ctx, input) => tokens.deleteToken(ctx, input),
});

export const deleteTokens = operation({
  id: 'vaults.delete_tokens',
  summary: 'Delete tokens',
  http: 'POST /vaults/{vault}/tokens/delete',
  kind: 'change',
  needs: ['vault:delete_token'],
  refuses: ['not_found'],
  input: schema.DeleteTokens,
  output: schema.DeletedTokens,
  run: (ctx, input) => tokens.deleteTokens(ctx, input),
});

const importThem = operation({
  id: 'vaults.import_tokens',
  summary: 'Import tokens into a vault',
  http: 'POST /vaults/{vault}/tokens/import',
  kind: 'use',
  needs: ['vault:tokenize'],
  refuses: [
    'not_found',
    'vault_disabled',
    'token_space_exhausted',
    'conflict',
    'plan_limit',
    'key_version_disabled',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: schema.ImportTokens,
  output: schema.ImportedTokens,
  body: { limit: 4 * 1_048_576 },
  run: (ctx, input) => importTokens(ctx, input),
});

const exportThem = operation({
  id: 'vaults.export_tokens',
  summary: 'Export the tokens of a vault',
  http: 'POST /vaults/{vault}/tokens/export',
  kind: 'read',
  needs: ['vault:list_tokens'],
  refuses: ['not_found'],
  input: schema.ExportTokens,
  output: schema.ExportedTokens,
  run: (ctx, input) => exportTokens(ctx, input),
});

export const reveal = operation({
  id: 'vaults.reveal_tokens',
  summary: 'Reveal a page of the tokens of a vault',
  http: 'GET /admin/vaults/{vault}/tokens',
  kind: 'reveal',
  needs: ['vault:list_tokens'],
  refuses: ['not_found'],
  input: schema.RevealTokens,
  output: schema.RevealedTokens,
  reveal: revealOfTokens,
  run: (ctx, input) => revealTokens(ctx, input),
});

export const revealOne = operation({
  id: 'vaults.reveal_token',
  summary: 'Reveal the value of a token',
  http: 'GET /admin/vaults/{vault}/tokens/{token}',
  kind: 'reveal',
  needs: ['vault:detokenize'],
  refuses: ['not_found', 'vault_disabled', 'token_expired', 'key_version_destroyed', 'key_version_disabled', 'tenant_sealed'],
  input: schema.TokenRef,
  output: schema.DetokenizedToken,
  reveal: revealOfToken,
  run: (ctx, input) => revealToken(ctx, input),
});

export { exportThem as exportTokens, importThem as importTokens, remove as delete };

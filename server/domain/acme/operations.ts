import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { createAcmeAccount, deleteAcmeAccount, listAcmeAccounts } from './accounts.ts';
import * as schema from './schema.ts';

export const listAccounts = operation({
  id: 'acme.list_accounts',
  summary: 'List ACME accounts',
  http: 'GET /pki/roots/{name}/roles/{role}/acme-accounts',
  kind: 'read',
  needs: ['pki:read'],
  refuses: ['not_found'],
  input: schema.ListAcmeAccounts,
  output: schema.AcmeAccount.array(),
  list: 'whole',
  run: async (ctx, input) => wholeList(await listAcmeAccounts(ctx, input)),
});

// What an account gets is what `POST …/sign/{role}` answers: certificates for keys that stay with the requester. So handing one out takes the right to
// sign, and not pki:issue, with which private keys leave the service, nor pki:manage_roles, which certifies nothing.
export const createAccount = operation({
  id: 'acme.create_account',
  summary: 'Create an ACME account',
  http: 'POST /pki/roots/{name}/roles/{role}/acme-accounts',
  kind: 'mint',
  needs: ['pki:sign'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: schema.CreateAcmeAccount,
  output: schema.CreatedAcmeAccount,
  success: 201,
  run: (ctx, input) => createAcmeAccount(ctx, input),
});

export const deleteAccount = operation({
  id: 'acme.delete_account',
  summary: 'Delete an ACME account',
  http: 'DELETE /pki/roots/{name}/roles/{role}/acme-accounts/{id}',
  kind: 'change',
  needs: { any: ['pki:sign', 'pki:revoke'] },
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.AcmeAccountRef,
  output: Deleted,
  run: (ctx, input) => deleteAcmeAccount(ctx, input),
});

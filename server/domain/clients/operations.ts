import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { assignClient, unassignClient } from './assignments.ts';
import * as credentials from './credentials.ts';
import * as schema from './schema.ts';
import * as clients from './service.ts';
import { lockedClient } from './store.ts';

export const list = operation({
  id: 'clients.list',
  summary: 'List clients',
  http: 'GET /clients',
  kind: 'read',
  needs: ['client:read'],
  refuses: [],
  input: schema.ListClients,
  output: z.array(schema.Client),
  list: 'paged',
  run: (ctx, input) => clients.listClients(ctx, input),
});

export const get = operation({
  id: 'clients.get',
  summary: 'Get a client',
  http: 'GET /clients/{id}',
  kind: 'read',
  needs: ['client:read'],
  refuses: ['not_found'],
  input: schema.ClientRef,
  output: schema.ClientDetail,
  run: (ctx, input) => clients.getClient(ctx, input),
});

export const create = operation({
  id: 'clients.create',
  summary: 'Create a client',
  http: 'POST /clients',
  kind: 'change',
  needs: ['client:create'],
  refuses: ['plan_limit'],
  input: schema.CreateClient,
  output: schema.ClientRecord,
  success: 201,
  run: (ctx, input) => clients.createClient(ctx, input),
});

export const update = operation({
  id: 'clients.update',
  summary: 'Update a client',
  http: 'PATCH /clients/{id}',
  kind: 'change',
  needs: ['client:update'],
  step_up: { by_verb: ['protection.loosen', 'capability.grant'] },
  refuses: ['not_found', 'conflict', 'mfa_required', 'step_up_required'],
  input: schema.UpdateClient,
  output: schema.ClientRecord,
  edits: { row: (tx, ctx, { id }) => lockedClient(tx, ctx, id), shown_by: get },
  run: (ctx, input) => clients.updateClient(ctx, input),
});

const remove = operation({
  id: 'clients.delete',
  summary: 'Delete a client',
  http: 'DELETE /clients/{id}',
  kind: 'change',
  needs: ['client:delete'],
  refuses: ['not_found'],
  input: schema.ClientRef,
  output: Deleted,
  run: (ctx, input) => clients.deleteClient(ctx, input),
});

const listCredentials = operation({
  id: 'clients.list_credentials',
  summary: 'List the credentials of a client',
  http: 'GET /clients/{id}/credentials',
  kind: 'read',
  needs: ['client:read'],
  refuses: ['not_found'],
  input: schema.ClientRef,
  output: z.array(schema.Credential),
  list: 'whole',
  run: async (ctx, input) => wholeList(await credentials.listCredentials(ctx, input)),
});

export const createCredential = operation({
  id: 'clients.create_credential',
  summary: 'Create a credential',
  http: 'POST /clients/{id}/credentials',
  kind: 'mint',
  any_session: {
    why: 'an address, a certificate or a public key is no secret, and none is shown; what it admits is confirmed',
    when: ({ data: { mode, secret } }) => mode !== 'issue' && mode !== 'generate' && secret === undefined,
  },
  needs: ['client:update'],
  step_up: { by_verb: ['protection.loosen', 'capability.grant'] },
  refuses: ['not_found', 'conflict', 'tenant_sealed', 'mfa_required', 'step_up_required'],
  input: schema.CreateCredential,
  output: schema.CreatedCredential,
  success: 201,
  run: (ctx, input) => credentials.createCredential(ctx, input),
});

export const updateCredential = operation({
  id: 'clients.update_credential',
  summary: 'Update a credential',
  http: 'PATCH /clients/{id}/credentials/{credentialId}',
  kind: 'change',
  needs: ['client:update'],
  step_up: { by_verb: ['protection.loosen', 'capability.grant'] },
  refuses: ['not_found', 'conflict', 'mfa_required', 'step_up_required'],
  input: schema.UpdateCredential,
  output: schema.Credential,
  run: (ctx, input) => credentials.updateCredential(ctx, input),
});

const removeCredential = operation({
  id: 'clients.delete_credential',
  summary: 'Delete a credential',
  http: 'DELETE /clients/{id}/credentials/{credentialId}',
  kind: 'change',
  needs: ['client:update'],
  refuses: ['not_found'],
  input: schema.CredentialRef,
  output: Deleted,
  run: (ctx, input) => credentials.deleteCredential(ctx, input),
});

export const assign = operation({
  id: 'clients.assign',
  summary: 'Assign a client to routes',
  http: 'POST /clients/{id}/assignments',
  kind: 'change',
  needs: ['client:update', 'route:update'],
  step_up: { by_verb: ['protection.loosen', 'capability.grant'] },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: schema.AssignClient,
  output: schema.Assigned,
  run: (ctx, input) => assignClient(ctx, input),
});

export const unassign = operation({
  id: 'clients.unassign',
  summary: 'Remove assignments of a client',
  http: 'DELETE /clients/{id}/assignments',
  kind: 'change',
  needs: ['client:update', 'route:update'],
  refuses: ['not_found'],
  input: schema.UnassignClient,
  output: schema.Unassigned,
  run: (ctx, input) => unassignClient(ctx, input),
});

export { listCredentials as credentials, remove as delete, removeCredential as deleteCredential };

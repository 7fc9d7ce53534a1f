import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { testConnection } from './checks.ts';
import * as connections from './connections.ts';
import { listLeases } from './lease-list.ts';
import { mintCredential } from './minting.ts';
import { PLACES } from './moves.ts';
import { renewLease } from './renewal.ts';
import { revealCredential, revealOfCredential } from './reveal.ts';
import { revokeLease } from './revocation.ts';
import * as roles from './roles.ts';
import { rotateRoot, rotateSshKey } from './rotation.ts';
import * as schema from './schema.ts';
import { lockedConnection } from './store.ts';

/** What any work on a server of a customer may be refused with. */
const ON_SERVER = [
  'agent_offline',
  'database_unreachable',
  'database_error',
  'database_timeout',
  'ssh_host_key_mismatch',
  'tenant_sealed',
] as const;

export const list = operation({
  id: 'dyn_db.list',
  summary: 'List database connections',
  http: 'GET /dyn-db-credentials',
  mirrored: 'GET /admin/dyn-db-credentials/connections',
  kind: 'read',
  needs: ['dyn_db_cred:read'],
  refuses: [],
  input: schema.NoInput,
  output: schema.DynDbConnection.array(),
  list: 'whole',
  run: async (ctx) => wholeList(await connections.listConnections(ctx)),
});

export const create = operation({
  id: 'dyn_db.create',
  summary: 'Create a database connection',
  http: 'POST /dyn-db-credentials',
  mirrored: 'POST /admin/dyn-db-credentials/connections',
  kind: 'change',
  needs: ['dyn_db_cred:create'],
  refuses: ['plan_limit', 'plan_feature', 'conflict', 'tenant_sealed'],
  input: schema.CreateDynDbConnection,
  output: schema.CreatedDynDbConnection,
  success: 201,
  run: (ctx, input) => connections.createConnection(ctx, input),
});

export const get = operation({
  id: 'dyn_db.get',
  summary: 'Get a database connection',
  http: 'GET /dyn-db-credentials/{connection}',
  mirrored: 'GET /admin/dyn-db-credentials/connections/{connection}',
  kind: 'read',
  needs: ['dyn_db_cred:read'],
  refuses: ['not_found'],
  input: schema.ConnectionRef,
  output: schema.DynDbConnection,
  run: (ctx, input) => connections.getConnection(ctx, input),
});

export const update = operation({
  id: 'dyn_db.update',
  summary: 'Update a database connection',
  http: 'PATCH /dyn-db-credentials/{connection}',
  mirrored: 'PATCH /admin/dyn-db-credentials/connections/{connection}',
  kind: 'change',
  needs: ['dyn_db_cred:update'],
  step_up: { by_verb: 'credential.move' },
  moves: { to: PLACES, credentials: ['admin_password'] },
  refuses: ['not_found', 'in_use', 'tenant_sealed', ...MOVE_REFUSALS],
  input: schema.UpdateDynDbConnection,
  output: schema.UpdatedDynDb,
  edits: { row: (tx, ctx, { connection }) => lockedConnection(tx, ctx, connection), shown_by: get },
  run: (ctx, input) => connections.updateConnection(ctx, input),
});

const remove = operation({
  id: 'dyn_db.delete',
  summary: 'Delete a database connection',
  http: 'DELETE /dyn-db-credentials/{connection}',
  mirrored: 'DELETE /admin/dyn-db-credentials/connections/{connection}',
  kind: 'change',
  needs: ['dyn_db_cred:delete'],
  refuses: ['not_found', 'in_use'],
  input: schema.ConnectionRef,
  output: schema.DeletedDynDb,
  run: (ctx, input) => connections.deleteConnection(ctx, input),
});

export const rotate_ssh_key = operation({
  id: 'dyn_db.rotate_ssh_key',
  summary: 'Rotate the SSH key of a database connection',
  http: 'POST /dyn-db-credentials/{connection}/rotate-ssh-key',
  mirrored: 'POST /admin/dyn-db-credentials/connections/{connection}/rotate-ssh-key',
  kind: 'change',
  outside: true,
  needs: ['dyn_db_cred:update'],
  step_up: { by_verb: 'credential.move' },
  moves: { to: ['ssh_host_fingerprint'], credentials: [] },
  refuses: ['not_found', ...ON_SERVER, ...MOVE_REFUSALS],
  input: schema.RotateSshKey,
  output: schema.RotatedSshKey,
  run: (ctx, input) => rotateSshKey(ctx, input),
});

export const rotate_root = operation({
  id: 'dyn_db.rotate_root',
  summary: 'Rotate the admin password of a database connection',
  http: 'POST /dyn-db-credentials/{connection}/rotate-root',
  mirrored: 'POST /admin/dyn-db-credentials/connections/{connection}/rotate-root',
  kind: 'change',
  outside: true,
  needs: ['dyn_db_cred:update'],
  refuses: ['not_found', 'conflict', ...ON_SERVER],
  input: schema.ConnectionRef,
  output: schema.RotatedRoot,
  run: (ctx, input) => rotateRoot(ctx, input),
});

export const test = operation({
  id: 'dyn_db.test',
  summary: 'Test a database connection',
  http: 'POST /dyn-db-credentials/{connection}/test',
  mirrored: 'POST /admin/dyn-db-credentials/connections/{connection}/test',
  kind: 'change',
  outside: true,
  needs: ['dyn_db_cred:update'],
  refuses: ['not_found'],
  input: schema.ConnectionRef,
  output: schema.TestedDynDbConnection,
  run: (ctx, input) => testConnection(ctx, input),
});

export const list_roles = operation({
  id: 'dyn_db.list_roles',
  summary: 'List the roles of a database connection',
  http: 'GET /dyn-db-credentials/{connection}/roles',
  mirrored: 'GET /admin/dyn-db-credentials/connections/{connection}/roles',
  kind: 'read',
  needs: ['dyn_db_cred:read'],
  refuses: ['not_found'],
  input: schema.ConnectionRef,
  output: schema.DynDbRole.array(),
  list: 'whole',
  run: async (ctx, input) => wholeList(await roles.listRoles(ctx, input)),
});

export const create_role = operation({
  id: 'dyn_db.create_role',
  summary: 'Create a database role',
  http: 'POST /dyn-db-credentials/{connection}/roles',
  mirrored: 'POST /admin/dyn-db-credentials/connections/{connection}/roles',
  kind: 'change',
  needs: ['dyn_db_cred:manage_roles'],
  refuses: ['not_found', 'conflict', 'plan_limit'],
  input: schema.CreateDynDbRole,
  output: schema.CreatedDynDbRole,
  success: 201,
  run: (ctx, input) => roles.createRole(ctx, input),
});

/** One role, for the dialog that edits it. */
export const get_role = operation({
  id: 'dyn_db.get_role',
  summary: 'Get a database role',
  http: 'GET /admin/dyn-db-credentials/connections/{connection}/roles/{role}',
  kind: 'read',
  needs: ['dyn_db_cred:read'],
  refuses: ['not_found'],
  input: schema.RoleRef,
  output: schema.DynDbRole,
  run: (ctx, input) => roles.getRole(ctx, input),
});

export const update_role = operation({
  id: 'dyn_db.update_role',
  summary: 'Update a database role',
  http: 'PATCH /dyn-db-credentials/{connection}/roles/{role}',
  mirrored: 'PATCH /admin/dyn-db-credentials/connections/{connection}/roles/{role}',
  kind: 'change',
  needs: ['dyn_db_cred:manage_roles'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: schema.UpdateDynDbRole,
  output: schema.UpdatedDynDb,
  edits: { row: (tx, ctx, input) => roles.lockedRole(tx, ctx, input), shown_by: get_role },
  run: (ctx, input) => roles.updateRole(ctx, input),
});

export const delete_role = operation({
  id: 'dyn_db.delete_role',
  summary: 'Delete a database role',
  http: 'DELETE /dyn-db-credentials/{connection}/roles/{role}',
  mirrored: 'DELETE /admin/dyn-db-credentials/connections/{connection}/roles/{role}',
  kind: 'change',
  needs: ['dyn_db_cred:manage_roles'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'in_use', 'mfa_required', 'step_up_required'],
  input: schema.RoleRef,
  output: schema.DeletedDynDb,
  run: (ctx, input) => roles.deleteRole(ctx, input),
});

export const templates = operation({
  id: 'dyn_db.templates',
  summary: 'List the built-in templates of database roles',
  http: 'GET /dyn-db-credentials/templates',
  mirrored: true,
  kind: 'read',
  needs: ['dyn_db_cred:read'],
  refuses: [],
  input: schema.NoInput,
  output: schema.DynDbTemplate.array(),
  list: 'whole',
  run: async () => wholeList(roles.listTemplates()),
});

const MINTS = ['not_found', 'plan_limit', 'connection_disabled', 'lease_limit', 'conflict', ...ON_SERVER] as const;

export const mint = operation({
  id: 'dyn_db.mint',
  summary: 'Mint a database credential',
  http: 'POST /dyn-db-credentials/{connection}/creds/{role}',
  kind: 'mint',
  outside: true,
  needs: ['dyn_db_cred:mint'],
  refuses: MINTS,
  input: schema.MintDynDbCredential,
  output: schema.DynDbCredential,
  success: 201,
  run: (ctx, input) => mintCredential(ctx, input),
});

/** The same for a person, behind the gate of reveals. */
export const reveal_mint = operation({
  id: 'dyn_db.reveal_mint',
  summary: 'Get a database credential',
  http: 'POST /admin/dyn-db-credentials/connections/{connection}/creds/{role}',
  kind: 'reveal',
  outside: true,
  needs: ['dyn_db_cred:mint'],
  reveal: revealOfCredential,
  refuses: [...MINTS, 'rate_limited'],
  input: schema.MintDynDbCredential,
  output: schema.RevealedDynDbCredential,
  success: 201,
  run: (ctx, input) => revealCredential(ctx, input),
});

export const leases = operation({
  id: 'dyn_db.list_leases',
  summary: 'List database leases',
  http: 'GET /dyn-db-credentials/leases',
  mirrored: true,
  kind: 'read',
  needs: ['dyn_db_cred:read'],
  refuses: [],
  input: schema.ListLeases,
  output: schema.DynDbLeases,
  run: (ctx, input) => listLeases(ctx, input),
});

export const revoke = operation({
  id: 'dyn_db.revoke',
  summary: 'Revoke a database lease',
  http: 'POST /dyn-db-credentials/leases/{id}/revoke',
  mirrored: true,
  kind: 'change',
  outside: true,
  while_inactive: true,
  needs: ['dyn_db_cred:revoke'],
  refuses: ['not_found', 'conflict', ...ON_SERVER],
  input: schema.LeaseRef,
  output: schema.RevokedLease,
  run: (ctx, input) => revokeLease(ctx, input),
});

export const renew = operation({
  id: 'dyn_db.renew',
  summary: 'Renew a database lease',
  http: 'POST /dyn-db-credentials/leases/{id}/renew',
  kind: 'change',
  outside: true,
  needs: ['dyn_db_cred:mint'],
  refuses: ['not_found', 'not_renewable', 'conflict', 'connection_disabled', ...ON_SERVER],
  input: schema.RenewLease,
  output: schema.DynDbLease,
  run: (ctx, input) => renewLease(ctx, input),
});

export { remove as delete };

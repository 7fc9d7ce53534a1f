import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { CollectionAccess } from './access/schema.ts';
import { collectionAccess } from './access/service.ts';
import * as defaults from './defaults/service.ts';
import { overviewCollections } from './overview.ts';
import * as owners from './owners/service.ts';
import * as wire from './schema.ts';
import * as collections from './service.ts';
import { CollectionVariable, CreateVariable, UpdateVariable, VariableRef, VariablesOf } from './variables/schema.ts';
import * as variables from './variables/service.ts';

export const list = operation({
  id: 'collections.list',
  summary: 'List collections',
  http: 'GET /collections',
  kind: 'read',
  needs: ['collection:list'],
  refuses: [],
  input: wire.ListCollections,
  output: z.array(wire.Collection),
  list: 'paged',
  names: ['id', 'name', 'slug', 'color', 'icon', 'expected_environments', 'created_at'],
  run: (ctx, input) => collections.listCollections(ctx, input),
});

export const create = operation({
  id: 'collections.create',
  summary: 'Create a collection',
  http: 'POST /collections',
  kind: 'change',
  needs: ['collection:create'],
  refuses: ['plan_limit', 'conflict'],
  input: wire.CreateCollection,
  output: wire.Collection,
  success: 201,
  run: (ctx, input) => collections.createCollection(ctx, input),
});

export const get = operation({
  id: 'collections.get',
  summary: 'Get a collection',
  http: 'GET /collections/{id}',
  kind: 'read',
  needs: ['collection:read'],
  refuses: ['not_found'],
  input: wire.CollectionRef,
  output: wire.CollectionDetail,
  run: (ctx, input) => collections.getCollection(ctx, input),
});

export const update = operation({
  id: 'collections.update',
  summary: 'Update a collection',
  http: 'PATCH /collections/{id}',
  kind: 'change',
  needs: ['collection:update'],
  refuses: ['not_found', 'conflict'],
  input: wire.UpdateCollection,
  output: wire.Collection,
  edits: { row: (tx, ctx, { id }) => collections.lockedCollection(tx, ctx, id), shown_by: get },
  run: (ctx, input) => collections.updateCollection(ctx, input),
});

const remove = operation({
  id: 'collections.delete',
  summary: 'Delete a collection',
  http: 'DELETE /collections/{id}',
  kind: 'change',
  needs: ['collection:delete'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'in_use', 'role_denied', 'step_up_required'],
  input: wire.CollectionRef,
  output: Deleted,
  run: (ctx, input) => collections.deleteCollection(ctx, input),
});

const listVariables = operation({
  id: 'collections.variables.list',
  summary: 'List the variables of a collection',
  http: 'GET /collections/{id}/variables',
  kind: 'read',
  needs: ['collection:read'],
  refuses: ['not_found'],
  input: VariablesOf,
  output: z.array(CollectionVariable),
  list: 'whole',
  run: async (ctx, input) => wholeList(await variables.listVariables(ctx, input)),
});

export const createVariable = operation({
  id: 'collections.variables.create',
  summary: 'Create a variable',
  http: 'POST /collections/{id}/variables',
  kind: 'change',
  needs: ['collection:update'],
  refuses: ['not_found', 'conflict'],
  input: CreateVariable,
  output: CollectionVariable,
  success: 201,
  run: (ctx, input) => variables.createVariable(ctx, input),
});

export const updateVariable = operation({
  id: 'collections.variables.update',
  summary: 'Update a variable',
  http: 'PATCH /collections/{id}/variables/{variableId}',
  kind: 'change',
  needs: ['collection:update'],
  step_up: { by_verb: 'capability.grant' },
  refuses: ['not_found', 'conflict', 'in_use', 'mfa_required', 'step_up_required'],
  input: UpdateVariable,
  output: CollectionVariable,
  edits: { row: (tx, ctx, input) => variables.lockedVariable(tx, ctx, input), shown_by: listVariables },
  run: (ctx, input) => variables.updateVariable(ctx, input),
});

const removeVariable = operation({
  id: 'collections.variables.delete',
  summary: 'Delete a variable',
  http: 'DELETE /collections/{id}/variables/{variableId}',
  kind: 'change',
  needs: ['collection:update'],
  refuses: ['not_found', 'in_use'],
  input: VariableRef,
  output: Deleted,
  run: (ctx, input) => variables.deleteVariable(ctx, input),
});

const getDefaults = operation({
  id: 'collections.environment_defaults.get',
  summary: 'Get the environment defaults of a collection',
  http: 'GET /collections/{id}/environment-defaults',
  kind: 'read',
  needs: ['collection:read'],
  refuses: ['not_found'],
  input: wire.CollectionRef,
  output: wire.EnvironmentDefaults,
  run: (ctx, input) => defaults.getDefaults(ctx, input),
});

export const putDefaults = operation({
  id: 'collections.environment_defaults.put',
  summary: 'Replace the environment defaults of a collection',
  http: 'PUT /collections/{id}/environment-defaults',
  kind: 'change',
  needs: ['collection:update'],
  refuses: ['not_found'],
  input: wire.PutEnvironmentDefaults,
  output: wire.EnvironmentDefaults,
  edits: { row: (tx, ctx, { id }) => collections.lockedCollection(tx, ctx, id), shown_by: getDefaults },
  run: (ctx, input) => defaults.putDefaults(ctx, input),
});

export const syncStatus = operation({
  id: 'collections.sync_status',
  summary: 'Compare the routes of a collection with its defaults',
  http: 'GET /collections/{id}/sync-status',
  kind: 'read',
  needs: ['collection:read'],
  refuses: ['not_found'],
  input: wire.SyncStatusQuery,
  output: z.array(wire.SyncStatus),
  list: 'whole',
  run: async (ctx, input) => wholeList(await defaults.syncStatus(ctx, input)),
});

export const access = operation({
  id: 'collections.access',
  summary: 'Show who can access what in a collection',
  http: 'GET /admin/collections/{id}/access',
  kind: 'read',
  needs: ['collection:read', 'route:read', 'client:read', 'api_key:list', 'member:list'],
  refuses: ['not_found'],
  input: wire.CollectionRef,
  output: CollectionAccess,
  run: (ctx, input) => collectionAccess(ctx, input),
});

export const overview = operation({
  id: 'collections.overview',
  summary: 'Get a summary of collections',
  http: 'GET /admin/collections/overview',
  kind: 'read',
  needs: ['collection:read', 'route:list', 'log:list'],
  refuses: [],
  input: wire.OverviewCollections,
  output: z.array(wire.CollectionOverview),
  list: 'whole',
  run: async (ctx, input) => wholeList(await overviewCollections(ctx, input)),
});

const getOwners = operation({
  id: 'collections.owners.get',
  summary: 'List the owners of a collection',
  http: 'GET /admin/collections/{id}/owners',
  kind: 'read',
  needs: ['collection:read', 'member:list'],
  refuses: ['not_found'],
  input: wire.CollectionRef,
  output: wire.CollectionOwners,
  run: (ctx, input) => owners.collectionOwners(ctx, input),
});

export const putOwners = operation({
  id: 'collections.owners.put',
  summary: 'Replace the owners of a collection',
  http: 'PUT /admin/collections/{id}/owners',
  kind: 'change',
  needs: ['collection:update', 'member:list'],
  refuses: ['not_found'],
  input: wire.PutOwners,
  output: wire.CollectionOwners,
  run: (ctx, input) => owners.putOwners(ctx, input),
});

export const resetRoute = operation({
  id: 'collections.routes.reset',
  summary: 'Reset a route to the defaults of its collection',
  http: 'POST /collections/{id}/routes/{routeId}/reset',
  kind: 'change',
  needs: ['collection:update', 'route:update'],
  step_up: { by_verb: ['capability.grant', 'protection.loosen'] },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: wire.ResetRoute,
  output: wire.SyncStatus,
  run: (ctx, input) => defaults.resetRoute(ctx, input),
});

export const moveMembers = operation({
  id: 'collections.members.move',
  summary: 'Move resources into a collection',
  http: 'POST /admin/collections/{id}/members',
  kind: 'change',
  needs: ['collection:update'],
  step_up: { by_verb: ['capability.grant', 'protection.loosen'] },
  refuses: ['not_found', 'forbidden', 'role_denied', 'mfa_required', 'step_up_required'],
  input: wire.MoveMembers,
  output: wire.Moved,
  run: (ctx, input) => defaults.moveMembers(ctx, input),
});

export { getDefaults as defaults, getOwners as owners, listVariables as variables, remove as delete, removeVariable as deleteVariable };

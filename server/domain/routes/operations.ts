import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { listActions, removeAction } from './actions/operations.ts';
import { CreateFieldAction, FieldAction, UpdateFieldAction } from './actions/schema.ts';
import * as actions from './actions/service.ts';
import * as clients from './clients/service.ts';
import { duplicateRoute } from './duplicate.ts';
import * as environments from './environments/service.ts';
import { ExampleRef, ExamplesOf, ReplaceExample, RouteExample, SaveExample } from './examples/schema.ts';
import * as examples from './examples/service.ts';
import { routeIcons } from './icon/service.ts';
import { impactOfRoute } from './impact.ts';
import { overviewRoutes } from './overview.ts';
import { revealCapture, revealOfCapture } from './payload-capture/reveal.ts';
import { CapturedRequest, CaptureRef, CaptureStatus, StartCapture, StartedCapture } from './payload-capture/schema.ts';
import * as captures from './payload-capture/service.ts';
import { ProbedTarget, ProbeTarget } from './probe/schema.ts';
import { probeTarget } from './probe/service.ts';
import * as wire from './schema.ts';
import { nameSecretById } from './secret-ids.ts';
import * as routes from './service.ts';
import { lockRoute } from './store.ts';
import { testRoute } from './trial/service.ts';

export const list = operation({
  id: 'routes.list',
  summary: 'List routes',
  http: 'GET /routes',
  kind: 'read',
  needs: ['route:list'],
  refuses: [],
  input: wire.ListRoutes,
  output: z.array(wire.Route),
  list: 'paged',
  names: ['id', 'name', 'slug', 'base_environment', 'enabled', 'collection_id', 'created_at'],
  run: (ctx, input) => routes.listRoutes(ctx, input),
});

export const create = operation({
  id: 'routes.create',
  summary: 'Create a route',
  http: 'POST /routes',
  kind: 'change',
  needs: ['route:create'],
  refuses: ['plan_limit', 'conflict'],
  input: wire.CreateRoute,
  output: wire.RouteRecord,
  success: 201,
  run: (ctx, input) => routes.createRoute(ctx, input),
});

export const get = operation({
  id: 'routes.get',
  summary: 'Get a route',
  http: 'GET /routes/{id}',
  kind: 'read',
  needs: ['route:read'],
  refuses: ['not_found'],
  input: wire.RouteRef,
  output: wire.RouteDetail,
  run: (ctx, input) => routes.getRoute(ctx, input),
});

export const update = operation({
  id: 'routes.update',
  summary: 'Update a route',
  http: 'PATCH /routes/{id}',
  kind: 'change',
  needs: ['route:update'],
  step_up: { by_verb: ['protection.loosen', 'capability.grant'] },
  refuses: ['not_found', 'conflict', 'mfa_required', 'step_up_required'],
  input: wire.UpdateRoute,
  output: wire.RouteRecord,
  edits: { row: (tx, ctx, { id }) => lockRoute(tx, ctx, id), shown_by: get },
  run: (ctx, input) => routes.updateRoute(ctx, input),
});

const remove = operation({
  id: 'routes.delete',
  summary: 'Delete a route',
  http: 'DELETE /routes/{id}',
  kind: 'change',
  needs: ['route:delete'],
  refuses: ['not_found', 'conflict'],
  input: wire.RouteRef,
  output: Deleted,
  run: (ctx, input) => routes.deleteRoute(ctx, input),
});

const listEnvironments = operation({
  id: 'routes.environments.list',
  summary: 'List the environments of a route',
  http: 'GET /routes/{id}/environments',
  kind: 'read',
  needs: ['route:read'],
  refuses: ['not_found'],
  input: wire.RouteRef,
  output: z.array(wire.RouteEnvironmentSummary),
  list: 'whole',
  run: async (ctx, input) => wholeList(await environments.listRouteEnvironments(ctx, input)),
});

export const putEnvironment = operation({
  id: 'routes.environments.put',
  summary: 'Create or update the configuration of a route in an environment',
  http: 'PUT /routes/{id}/environments/{env}',
  kind: 'change',
  needs: ['route:update'],
  step_up: { by_verb: ['protection.loosen', 'capability.grant'] },
  refuses: ['not_found', 'conflict', 'mfa_required', 'step_up_required'],
  input: wire.PutRouteEnvironment,
  output: wire.RouteEnvironmentConfig,
  success: { among: [200, 201], of: (_, result) => (result?.created ? 201 : 200) },
  // Any change of a route touches its row, so an override nobody made yet is guarded too.
  edits: { row: (tx, ctx, { id }) => lockRoute(tx, ctx, id), shown_by: get },
  run: (ctx, input) => environments.putRouteEnvironment(ctx, input),
});

const removeEnvironment = operation({
  id: 'routes.environments.delete',
  summary: 'Remove a route from an environment',
  http: 'DELETE /routes/{id}/environments/{env}',
  kind: 'change',
  needs: ['route:update'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'conflict', 'mfa_required', 'step_up_required'],
  input: wire.RouteEnvironmentRef,
  output: Deleted,
  run: (ctx, input) => environments.deleteRouteEnvironment(ctx, input),
});

const listClients = operation({
  id: 'routes.clients.list',
  summary: 'List the clients assigned to a route in an environment',
  http: 'GET /routes/{id}/environments/{env}/clients',
  kind: 'read',
  needs: ['route:read'],
  refuses: ['not_found'],
  input: wire.RouteEnvironmentRef,
  output: z.array(wire.RouteClient),
  list: 'whole',
  run: async (ctx, input) => wholeList(await clients.listRouteClients(ctx, input)),
});

export const setClients = operation({
  id: 'routes.clients.set',
  summary: 'Replace the clients assigned to a route in an environment',
  http: 'PUT /routes/{id}/environments/{env}/clients',
  kind: 'change',
  needs: ['route:update'],
  step_up: { by_verb: ['protection.loosen', 'capability.grant'] },
  refuses: ['not_found', 'conflict', 'mfa_required', 'step_up_required'],
  input: wire.SetRouteClients,
  output: z.array(wire.RouteClient),
  list: 'whole',
  run: async (ctx, input) => wholeList(await clients.setRouteClients(ctx, input)),
});

export const createAction = operation({
  id: 'routes.actions.create',
  summary: 'Add a field action to a route',
  http: 'POST /routes/{id}/actions',
  kind: 'change',
  needs: ['route:update'],
  step_up: { by_verb: 'capability.grant' },
  refuses: ['not_found', 'conflict', 'forbidden', 'role_denied', 'mfa_required', 'step_up_required'],
  input: CreateFieldAction,
  output: FieldAction,
  success: 201,
  run: (ctx, input) => actions.createFieldAction(ctx, input),
});

export const updateAction = operation({
  id: 'routes.actions.update',
  summary: 'Update a field action of a route',
  http: 'PATCH /routes/{id}/actions/{actionId}',
  kind: 'change',
  needs: ['route:update'],
  step_up: { by_verb: ['capability.grant', 'protection.loosen'] },
  refuses: ['not_found', 'forbidden', 'role_denied', 'conflict', 'mfa_required', 'step_up_required'],
  input: UpdateFieldAction,
  output: FieldAction,
  edits: { row: (tx, ctx, { id }) => lockRoute(tx, ctx, id), shown_by: get },
  run: (ctx, input) => actions.updateFieldAction(ctx, input),
});

export const duplicate = operation({
  id: 'routes.duplicate',
  summary: 'Duplicate a route',
  http: 'POST /admin/routes/{id}/duplicate',
  kind: 'change',
  needs: ['route:create'],
  step_up: { by_verb: 'capability.grant' },
  refuses: ['not_found', 'plan_limit', 'conflict', 'mfa_required', 'step_up_required'],
  input: wire.DuplicateRoute,
  output: wire.DuplicatedRoute,
  success: 201,
  run: (ctx, input) => duplicateRoute(ctx, input),
});

export const overview = operation({
  id: 'routes.overview',
  summary: 'Get a summary of routes',
  http: 'GET /admin/routes/overview',
  kind: 'read',
  needs: ['route:list', 'log:list'],
  refuses: [],
  input: wire.OverviewRoutes,
  output: z.array(wire.RouteOverview),
  list: 'whole',
  run: async (ctx, input) => wholeList(await overviewRoutes(ctx, input)),
});

export const icons = operation({
  id: 'routes.icons',
  summary: 'Get the icons of routes',
  http: 'GET /admin/routes/icons',
  kind: 'read',
  needs: ['route:read'],
  refuses: [],
  input: wire.OverviewRoutes,
  output: z.array(wire.RouteIcon),
  list: 'whole',
  run: async (ctx, input) => wholeList(await routeIcons(ctx, input)),
});

export const impact = operation({
  id: 'routes.impact',
  summary: 'Show what deleting a route affects',
  http: 'GET /admin/routes/{id}/impact',
  kind: 'read',
  needs: ['route:read', 'log:list'],
  refuses: ['not_found'],
  input: wire.RouteRef,
  output: wire.RouteImpact,
  run: (ctx, input) => impactOfRoute(ctx, input),
});

export const test = operation({
  id: 'routes.test',
  summary: 'Send a request through a route',
  http: 'POST /admin/routes/{id}/test',
  kind: 'change',
  needs: ['route:test', 'proxy:invoke'],
  refuses: ['not_found', 'rate_limited', 'dependency_unavailable', 'conflict'],
  input: wire.TestRoute,
  output: wire.TestedRoute,
  run: (ctx, input) => testRoute(ctx, input),
});

const listExamples = operation({
  id: 'routes.examples.list',
  summary: 'List the saved examples of a route',
  http: 'GET /admin/routes/{id}/examples',
  kind: 'read',
  needs: ['route:test'],
  refuses: ['not_found'],
  input: ExamplesOf,
  output: z.array(RouteExample),
  list: 'whole',
  run: async (ctx, input) => wholeList(await examples.listExamples(ctx, input)),
});

export const saveExample = operation({
  id: 'routes.examples.create',
  summary: 'Save a request as an example of a route',
  http: 'POST /admin/routes/{id}/examples',
  kind: 'change',
  needs: ['route:test'],
  refuses: ['not_found', 'conflict'],
  input: SaveExample,
  output: RouteExample,
  success: 201,
  run: (ctx, input) => examples.saveExample(ctx, input),
});

export const replaceExample = operation({
  id: 'routes.examples.replace',
  summary: 'Replace a saved example',
  http: 'PUT /admin/routes/{id}/examples/{exampleId}',
  kind: 'change',
  needs: ['route:test'],
  refuses: ['not_found', 'conflict'],
  input: ReplaceExample,
  output: RouteExample,
  run: (ctx, input) => examples.replaceExample(ctx, input),
});

const removeExample = operation({
  id: 'routes.examples.delete',
  summary: 'Delete a saved example',
  http: 'DELETE /admin/routes/{id}/examples/{exampleId}',
  kind: 'change',
  needs: ['route:test'],
  refuses: ['not_found', 'conflict'],
  input: ExampleRef,
  output: Deleted,
  run: (ctx, input) => examples.deleteExample(ctx, input),
});

export const probe = operation({
  id: 'routes.probe',
  summary: 'Check an upstream before routing to it',
  http: 'POST /admin/routes/probe',
  kind: 'read',
  needs: ['route:create'],
  refuses: ['rate_limited'],
  input: ProbeTarget,
  output: ProbedTarget,
  run: (ctx, input) => probeTarget(ctx, input),
});

export const startCapture = operation({
  id: 'routes.capture.start',
  summary: 'Create a link that captures one request',
  http: 'POST /admin/routes/{id}/payload-capture',
  kind: 'mint',
  any_session: { why: 'takes in one request within an hour, and opens nothing' },
  needs: ['route:update'],
  refuses: ['not_found', 'conflict'],
  input: StartCapture,
  output: StartedCapture,
  success: 201,
  run: (ctx, input) => captures.startCapture(ctx, input),
});

export const captureStatus = operation({
  id: 'routes.capture.status',
  summary: 'Get the state of a capture link and the structure of what was sent',
  http: 'GET /admin/routes/{id}/payload-capture/{token}/status',
  kind: 'read',
  needs: ['route:update'],
  refuses: ['not_found'],
  input: CaptureRef,
  output: CaptureStatus,
  run: (ctx, input) => captures.captureStatus(ctx, input),
});

export const checkCapture = operation({
  id: 'routes.capture.check',
  summary: 'Reveal a captured request',
  http: 'GET /admin/routes/{id}/check-payload-capture/{token}',
  kind: 'reveal',
  needs: ['log:read_payload'],
  refuses: ['not_found', 'capture_expired', 'tenant_sealed'],
  input: CaptureRef,
  output: CapturedRequest,
  reveal: revealOfCapture(captureStatus as AnyOperation),
  run: (ctx, input) => revealCapture(ctx, input),
});

export const applyCapture = operation({
  id: 'routes.capture.apply',
  summary: 'Save the structure of a captured request',
  http: 'POST /admin/routes/{id}/payload-capture/{token}/apply',
  kind: 'change',
  needs: ['route:update'],
  refuses: ['not_found', 'conflict', 'capture_expired'],
  input: CaptureRef,
  output: CaptureStatus,
  run: (ctx, input) => captures.applyCapture(ctx, input),
});

export const secretById = operation({
  id: 'routes.secret_by_id',
  summary: "Replace references to a secret's name with its ID",
  http: 'POST /admin/secrets/{id}/references-by-id',
  kind: 'change',
  needs: ['secret:read', 'route:update'],
  refuses: ['not_found', 'conflict'],
  input: wire.RouteRef,
  output: wire.RewrittenRoutes,
  run: (ctx, input) => nameSecretById(ctx, input),
});

export {
  listActions as actions,
  listClients as clients,
  listEnvironments as environments,
  listExamples as examples,
  remove as delete,
  removeAction as deleteAction,
  removeEnvironment as deleteEnvironment,
  removeExample as deleteExample,
};

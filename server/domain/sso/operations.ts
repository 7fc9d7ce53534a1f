import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import * as attempts from './attempts.ts';
import { takeSamlResponse } from './saml-responses.ts';
import {
  CreateSsoConnection,
  SsoAcs,
  SsoCallback,
  SsoConnection,
  SsoConnectionRef,
  SsoLookup,
  SsoLookupAnswer,
  SsoMetadata,
  SsoRedirect,
  SsoSettings,
  SsoStart,
  SsoTest,
  SsoTestStarted,
  SsoWorkspaceCallback,
  UpdateSsoConnection,
  UpdateSsoSettings,
} from './schema.ts';
import * as sso from './service.ts';
import * as signIn from './sign-in.ts';

export const list = operation({
  id: 'sso.list',
  summary: 'List single sign-on connections',
  http: 'GET /admin/sso/connections',
  kind: 'read',
  needs: ['sso:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(SsoConnection),
  list: 'whole',
  run: async (ctx) => wholeList(await sso.listConnections(ctx)),
});

export const get = operation({
  id: 'sso.get',
  summary: 'Get a single sign-on connection',
  http: 'GET /admin/sso/connections/{id}',
  kind: 'read',
  needs: ['sso:read'],
  refuses: ['not_found'],
  input: SsoConnectionRef,
  output: SsoConnection,
  run: (ctx, input) => sso.getConnection(ctx, input),
});

export const create = operation({
  id: 'sso.create',
  summary: 'Create a single sign-on connection',
  http: 'POST /admin/sso/connections',
  kind: 'change',
  needs: ['sso:manage'],
  feature: 'sso',
  step_up: 'sso.change',
  refuses: ['conflict', 'tenant_sealed'],
  input: CreateSsoConnection,
  output: SsoConnection,
  success: 201,
  run: (ctx, input) => sso.createConnection(ctx, input),
});

export const update = operation({
  id: 'sso.update',
  summary: 'Update a single sign-on connection',
  http: 'PATCH /admin/sso/connections/{id}',
  kind: 'change',
  needs: ['sso:manage'],
  feature: 'sso',
  step_up: 'sso.change',
  moves: { to: ['issuer'], credentials: ['client_secret'] },
  refuses: ['not_found', 'conflict', 'tenant_sealed', ...MOVE_REFUSALS],
  input: UpdateSsoConnection,
  output: SsoConnection,
  edits: { row: (tx, ctx, { id }) => sso.lockedConnection(tx, ctx, id), shown_by: get },
  run: (ctx, input) => sso.updateConnection(ctx, input),
});

const remove = operation({
  id: 'sso.delete',
  summary: 'Delete a single sign-on connection',
  http: 'DELETE /admin/sso/connections/{id}',
  kind: 'change',
  needs: ['sso:manage'],
  step_up: 'sso.change',
  refuses: ['not_found', 'conflict'],
  input: SsoConnectionRef,
  output: Deleted,
  run: (ctx, input) => sso.deleteConnection(ctx, input),
});

export const metadata = operation({
  id: 'sso.metadata',
  summary: 'Get the service provider metadata',
  http: 'GET /admin/sso/connections/{id}/metadata',
  kind: 'read',
  needs: ['sso:read'],
  refuses: ['not_found'],
  input: SsoConnectionRef,
  output: SsoMetadata,
  run: (ctx, input) => sso.getMetadata(ctx, input),
});

export const test = operation({
  id: 'sso.test',
  summary: 'Start a test sign-in',
  http: 'POST /admin/sso/connections/{id}/test',
  kind: 'read',
  needs: ['sso:manage'],
  feature: 'sso',
  refuses: ['not_found'],
  input: SsoConnectionRef,
  output: SsoTestStarted,
  success: 201,
  run: (ctx, input) => attempts.startTest(ctx, input),
});

export const testResult = operation({
  id: 'sso.test-result',
  summary: 'Get the result of a test sign-in',
  http: 'GET /admin/sso/tests/{id}',
  kind: 'read',
  needs: ['sso:read'],
  refuses: ['not_found'],
  input: SsoConnectionRef,
  output: SsoTest,
  run: (ctx, input) => attempts.testResult(ctx, input),
});

export const settings = operation({
  id: 'sso.settings',
  summary: 'Get the single sign-on settings',
  http: 'GET /admin/sso/settings',
  kind: 'read',
  needs: ['sso:read'],
  refuses: [],
  input: z.object({}),
  output: SsoSettings,
  run: (ctx) => sso.getSsoSettings(ctx),
});

export const updateSettings = operation({
  id: 'sso.settings.update',
  summary: 'Update the single sign-on settings',
  http: 'PATCH /admin/sso/settings',
  kind: 'change',
  needs: ['sso:manage'],
  step_up: 'sso.change',
  refuses: ['conflict', 'plan_feature'],
  input: UpdateSsoSettings,
  output: SsoSettings,
  run: (ctx, input) => sso.updateSsoSettings(ctx, input),
});

export const lookup = operation({
  id: 'sso.lookup',
  summary: 'Find out whether a domain has single sign-on',
  http: 'POST /auth/sso/lookup',
  kind: 'read',
  needs: 'visitor',
  refuses: [],
  input: SsoLookup,
  output: SsoLookupAnswer,
  run: (ctx, input) => signIn.lookUpSso(ctx, input),
});

export const start = operation({
  id: 'sso.start',
  summary: 'Go to an identity provider',
  http: 'GET /auth/sso/start',
  kind: 'change',
  needs: 'visitor',
  redirects: true,
  refuses: ['sso_refused'],
  input: SsoStart,
  output: SsoRedirect,
  run: (ctx, input) => signIn.startSso(ctx, input),
});

export const callback = operation({
  id: 'sso.callback',
  summary: 'Come back from an identity provider',
  http: 'GET /auth/sso/callback',
  kind: 'mint',
  needs: 'visitor',
  redirects: true,
  refuses: ['sso_refused'],
  input: SsoCallback,
  output: SsoRedirect,
  run: (ctx, input) => signIn.finishSso(ctx, input),
});

export const workspaceCallback = operation({
  id: 'sso.workspace-callback',
  summary: 'Come back from an OpenID Connect provider',
  http: 'GET /auth/sso/callback/{tenant_id}',
  kind: 'mint',
  needs: 'visitor',
  redirects: true,
  refuses: ['sso_refused'],
  input: SsoWorkspaceCallback,
  output: SsoRedirect,
  run: (ctx, input) => signIn.finishSso(ctx, input),
});

export const acs = operation({
  id: 'sso.acs',
  summary: 'Take a SAML response',
  http: 'POST /auth/sso/acs',
  kind: 'change',
  needs: 'visitor',
  redirects: true,
  foreignForm: true,
  refuses: ['sso_refused'],
  input: SsoAcs,
  output: SsoRedirect,
  run: (ctx, input) => takeSamlResponse(ctx, input),
});

export { remove as delete };

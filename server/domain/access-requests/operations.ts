import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { AccessRequest, CreateAccessRequest, DecideAccessRequest } from './schema.ts';
import * as requests from './service.ts';

export const list = operation({
  id: 'access_requests.list',
  summary: 'List requests for access',
  http: 'GET /admin/access-requests',
  kind: 'read',
  needs: 'any',
  refuses: ['role_denied'],
  input: z.object({}),
  output: z.array(AccessRequest),
  list: 'whole',
  run: async (ctx) => wholeList(await requests.listRequests(ctx)),
});

export const create = operation({
  id: 'access_requests.create',
  summary: 'Ask for access',
  http: 'POST /admin/access-requests',
  kind: 'change',
  needs: 'any',
  refuses: ['role_denied', 'conflict'],
  input: CreateAccessRequest,
  output: AccessRequest,
  success: 201,
  run: (ctx, input) => requests.createRequest(ctx, input),
});

export const decide = operation({
  id: 'access_requests.decide',
  summary: 'Approve or deny a request for access',
  http: 'POST /admin/access-requests/{id}/decide',
  kind: 'change',
  needs: ['member:update'],
  step_up: { by_verb: 'capability.grant' },
  refuses: ['not_found', 'role_denied', 'conflict', 'last_owner', 'not_a_member', 'mfa_required', 'step_up_required'],
  input: DecideAccessRequest,
  output: AccessRequest,
  run: (ctx, input) => requests.decideRequest(ctx, input),
});

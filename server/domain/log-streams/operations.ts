import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { CreateLogStream, LogStream, LogStreamRef, LogStreamTest, UpdateLogStream } from './schema.ts';
import * as streams from './service.ts';
import { testStream } from './trial.ts';

export const list = operation({
  id: 'log_streams.list',
  summary: 'List log streams',
  http: 'GET /admin/log-streams',
  kind: 'read',
  needs: ['log_stream:manage'],
  refuses: [],
  input: z.object({}),
  output: z.array(LogStream),
  list: 'whole',
  run: async (ctx) => wholeList(await streams.listStreams(ctx)),
});

export const get = operation({
  id: 'log_streams.get',
  summary: 'Get a log stream',
  http: 'GET /admin/log-streams/{id}',
  kind: 'read',
  needs: ['log_stream:manage'],
  refuses: ['not_found'],
  input: LogStreamRef,
  output: LogStream,
  run: (ctx, input) => streams.getStream(ctx, input),
});

export const create = operation({
  id: 'log_streams.create',
  summary: 'Create a log stream',
  http: 'POST /admin/log-streams',
  kind: 'change',
  needs: ['log_stream:manage'],
  feature: 'audit_export',
  step_up: { by_verb: 'capability.grant' },
  refuses: ['conflict', 'tenant_sealed', 'mfa_required', 'step_up_required'],
  input: CreateLogStream,
  output: LogStream,
  success: 201,
  run: (ctx, input) => streams.createStream(ctx, input),
});

export const update = operation({
  id: 'log_streams.update',
  summary: 'Update a log stream',
  http: 'PATCH /admin/log-streams/{id}',
  kind: 'change',
  needs: ['log_stream:manage'],
  feature: 'audit_export',
  step_up: { by_verb: ['credential.move', 'capability.grant'] },
  moves: { to: ['endpoint'], credentials: ['headers', 'token', 'secret_access_key'] },
  refuses: ['not_found', 'conflict', 'tenant_sealed', ...MOVE_REFUSALS],
  input: UpdateLogStream,
  output: LogStream,
  edits: { row: (tx, ctx, { id }) => streams.lockedStream(tx, ctx, id), shown_by: get },
  run: (ctx, input) => streams.updateStream(ctx, input),
});

const remove = operation({
  id: 'log_streams.delete',
  summary: 'Delete a log stream',
  http: 'DELETE /admin/log-streams/{id}',
  kind: 'change',
  needs: ['log_stream:manage'],
  while_inactive: true,
  refuses: ['not_found'],
  input: LogStreamRef,
  output: Deleted,
  run: (ctx, input) => streams.deleteStream(ctx, input),
});

export const test = operation({
  id: 'log_streams.test',
  summary: 'Send a test record to a log stream',
  http: 'POST /admin/log-streams/{id}/test',
  kind: 'read',
  needs: ['log_stream:manage'],
  refuses: ['not_found', 'rate_limited', 'tenant_sealed'],
  input: LogStreamRef,
  output: LogStreamTest,
  run: (ctx, input) => testStream(ctx, input),
});

export { remove as delete };

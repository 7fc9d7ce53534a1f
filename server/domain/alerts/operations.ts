import { z } from 'zod';
import { ChannelTrial } from '#server/domain/alert-channels/schema.ts';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import * as incidentVerbs from './incidents.ts';
import { previewAlert, previewOf } from './preview.ts';
import * as schema from './schema.ts';
import * as alerts from './service.ts';
import { sparklinesOf } from './sparklines.ts';
import { testAlert } from './trial.ts';

export const list = operation({
  id: 'alerts.list',
  summary: 'List alerts',
  http: 'GET /admin/alerts',
  kind: 'read',
  needs: ['alert:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.Alert),
  list: 'whole',
  run: async (ctx) => wholeList(await alerts.listAlerts(ctx)),
});

export const get = operation({
  id: 'alerts.get',
  summary: 'Get an alert',
  http: 'GET /admin/alerts/{id}',
  kind: 'read',
  needs: ['alert:read'],
  refuses: ['not_found'],
  input: schema.AlertRef,
  output: schema.Alert,
  run: (ctx, input) => alerts.getAlert(ctx, input),
});

export const create = operation({
  id: 'alerts.create',
  summary: 'Create an alert',
  http: 'POST /admin/alerts',
  kind: 'change',
  needs: ['alert:create'],
  refuses: ['conflict'],
  input: schema.CreateAlert,
  output: schema.Alert,
  success: 201,
  run: (ctx, input) => alerts.createAlert(ctx, input),
});

export const update = operation({
  id: 'alerts.update',
  summary: 'Update an alert',
  http: 'PATCH /admin/alerts/{id}',
  kind: 'change',
  needs: ['alert:update'],
  refuses: ['not_found'],
  input: schema.UpdateAlert,
  output: schema.Alert,
  edits: { row: (tx, ctx, { id }) => alerts.lockedAlert(tx, ctx, id), shown_by: get },
  run: (ctx, input) => alerts.updateAlert(ctx, input),
});

const remove = operation({
  id: 'alerts.delete',
  summary: 'Delete an alert',
  http: 'DELETE /admin/alerts/{id}',
  kind: 'change',
  needs: ['alert:delete'],
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.AlertRef,
  output: Deleted,
  run: (ctx, input) => alerts.deleteAlert(ctx, input),
});

export const mute = operation({
  id: 'alerts.mute',
  summary: 'Mute an alert',
  http: 'POST /admin/alerts/{id}/mute',
  kind: 'change',
  needs: ['alert:update'],
  refuses: ['not_found'],
  input: schema.MuteAlert,
  output: schema.Alert,
  run: (ctx, input) => alerts.muteAlert(ctx, input),
});

export const test = operation({
  id: 'alerts.test',
  summary: 'Send a test message of an alert',
  http: 'POST /admin/alerts/{id}/test',
  kind: 'read',
  needs: ['alert:update'],
  refuses: ['not_found', 'conflict', 'rate_limited', 'tenant_sealed'],
  input: schema.AlertRef,
  output: z.array(ChannelTrial),
  list: 'whole',
  run: async (ctx, input) => wholeList(await testAlert(ctx, input)),
});

export const preview = operation({
  id: 'alerts.preview',
  summary: 'See what an alert would have done',
  http: 'POST /admin/alerts/{id}/preview',
  kind: 'read',
  needs: ['alert:read'],
  refuses: ['not_found'],
  input: schema.AlertRef,
  output: schema.Preview,
  run: (ctx, input) => previewAlert(ctx, input),
});

export const previewDraft = operation({
  id: 'alerts.preview_draft',
  summary: 'See what a new alert would have done',
  http: 'POST /admin/alert-preview',
  kind: 'read',
  needs: ['alert:read'],
  refuses: [],
  input: schema.PreviewInput,
  output: schema.Preview,
  run: (ctx, input) => previewOf(ctx, input),
});

export const sparklines = operation({
  id: 'alerts.sparklines',
  summary: 'Get the last hour of each alert',
  http: 'GET /admin/alert-sparklines',
  kind: 'read',
  needs: ['alert:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.Sparkline),
  list: 'whole',
  run: async (ctx) => wholeList(await sparklinesOf(ctx)),
});

export const incidents = operation({
  id: 'alerts.incidents',
  summary: 'List incidents',
  http: 'GET /admin/incidents',
  kind: 'read',
  needs: ['alert:read'],
  refuses: [],
  input: schema.ListIncidents,
  output: z.array(schema.Incident),
  list: 'paged',
  run: (ctx, input) => incidentVerbs.listIncidents(ctx, input),
});

export const incident = operation({
  id: 'alerts.incident',
  summary: 'Get an incident',
  http: 'GET /admin/incidents/{id}',
  kind: 'read',
  needs: ['alert:read'],
  refuses: ['not_found'],
  input: schema.IncidentRef,
  output: schema.IncidentDetail,
  run: (ctx, input) => incidentVerbs.getIncident(ctx, input),
});

export const acknowledge = operation({
  id: 'alerts.acknowledge',
  summary: 'Acknowledge an incident',
  http: 'POST /admin/incidents/{id}/acknowledge',
  kind: 'change',
  needs: ['alert:update'],
  refuses: ['not_found', 'conflict'],
  input: schema.IncidentRef,
  output: schema.Incident,
  run: (ctx, input) => incidentVerbs.acknowledgeIncident(ctx, input),
});

export const note = operation({
  id: 'alerts.note',
  summary: 'Add a note to an incident',
  http: 'POST /admin/incidents/{id}/notes',
  kind: 'change',
  needs: ['alert:update'],
  refuses: ['not_found', 'conflict'],
  input: schema.NoteIncident,
  output: schema.Incident,
  run: (ctx, input) => incidentVerbs.noteIncident(ctx, input),
});

export { remove as delete };

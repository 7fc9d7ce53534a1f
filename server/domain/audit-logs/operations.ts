import { z } from 'zod';
import { type AnyOperation, exporting, operation } from '#server/kernel/operation.ts';
import * as chain from './chain-pages.ts';
import { exportAuditLogs } from './export.ts';
import { revealDetails, revealOfDetails } from './reveal.ts';
import {
  AuditEntryDetail,
  AuditEvents,
  AuditFacets,
  AuditFacetsQuery,
  AuditLogEntry,
  AuditRef,
  BrowseAuditLogs,
  BrowseCritical,
  BrowsedAuditLogs,
  BrowsedCritical,
  CriticalVerdict,
  ExportAuditLogs,
  ListAuditLogs,
  VerifyCritical,
} from './schema.ts';
import * as audit from './service.ts';

export const list = operation({
  id: 'audit_logs.list',
  summary: 'List audit log entries',
  http: 'GET /audit-logs',
  kind: 'read',
  needs: ['audit_log:list'],
  refuses: [],
  input: ListAuditLogs,
  output: z.array(AuditLogEntry),
  list: 'paged',
  run: (ctx, input) => audit.listAuditLogs(ctx, input),
});

export const events = operation({
  id: 'audit_logs.events',
  summary: 'Follow the audit log',
  http: 'GET /audit-logs/events',
  kind: 'read',
  needs: ['audit_log:list'],
  refuses: [],
  input: AuditEvents,
  output: z.array(AuditLogEntry),
  list: 'feed',
  run: (ctx, input) => audit.auditEvents(ctx, input),
});

export const browse = operation({
  id: 'audit_logs.browse',
  summary: 'Browse the audit log',
  http: 'GET /admin/audit-logs',
  kind: 'read',
  needs: ['audit_log:list'],
  refuses: [],
  input: BrowseAuditLogs,
  output: BrowsedAuditLogs,
  run: (ctx, input) => audit.browseAuditLogs(ctx, input),
});

export const get = operation({
  id: 'audit_logs.get',
  summary: 'Get an audit log entry',
  http: 'GET /admin/audit-logs/{id}',
  kind: 'read',
  needs: ['audit_log:list'],
  refuses: ['not_found'],
  input: AuditRef,
  output: AuditEntryDetail,
  run: (ctx, input) => audit.getAuditLog(ctx, input),
});

export const reveal = operation({
  id: 'audit_logs.reveal',
  summary: 'Reveal the withheld details of an audit log entry',
  http: 'GET /admin/audit-logs/{id}?include=details',
  kind: 'reveal',
  needs: ['audit_log:read_details'],
  refuses: ['not_found'],
  input: AuditRef,
  output: AuditEntryDetail,
  reveal: revealOfDetails(get as AnyOperation),
  run: (ctx, input) => revealDetails(ctx, input),
});

export const facets = operation({
  id: 'audit_logs.facets',
  summary: 'Count audit log entries by action, type and actor',
  http: 'GET /admin/audit-logs/facets',
  kind: 'read',
  needs: ['audit_log:list'],
  refuses: [],
  input: AuditFacetsQuery,
  output: AuditFacets,
  run: (ctx, input) => audit.auditFacets(ctx, input),
});

export const exported = exporting({
  id: 'audit_logs.export',
  summary: 'Export the audit log',
  http: 'GET /admin/audit-logs/export',
  needs: ['audit_log:export'],
  feature: 'audit_export',
  refuses: [],
  input: ExportAuditLogs,
  stream: exportAuditLogs,
});

export const critical = operation({
  id: 'audit_logs.critical',
  summary: 'Browse the critical chain',
  http: 'GET /admin/audit-logs/critical',
  kind: 'read',
  needs: ['audit_log:read_details'],
  refuses: [],
  input: BrowseCritical,
  output: BrowsedCritical,
  run: (ctx, input) => chain.browseCritical(ctx, input),
});

export const verifyCritical = operation({
  id: 'audit_logs.verify_critical',
  summary: 'Verify the critical chain',
  http: 'POST /admin/audit-logs/critical/verify',
  kind: 'read',
  needs: ['audit_log:read_details'],
  refuses: [],
  input: VerifyCritical,
  output: CriticalVerdict,
  run: (ctx, input) => chain.verifyChainOf(ctx, input),
});

export const exportCritical = exporting({
  id: 'audit_logs.export_critical',
  summary: 'Export the critical chain',
  http: 'GET /admin/audit-logs/critical/export.jsonl',
  needs: ['audit_log:export'],
  refuses: [],
  input: z.object({}),
  stream: (ctx) => chain.exportCritical(ctx),
});

import { z } from 'zod';
import { exporting, operation } from '#server/kernel/operation.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { queryAnalytics } from './analytics/query.ts';
import { Analytics, AnalyticsQuery } from './analytics/schema.ts';
import { BrowsedLogs, BrowseLogs, ExportLogs, LogDetail, LogFacets, LogFacetsQuery, LogFile, RevealedLog } from './browse.schema.ts';
import { browseLogs, inspectLog } from './browse.ts';
import { reportClientHealth } from './client-health/report.ts';
import { ClientHealth, ClientHealthQuery } from './client-health/schema.ts';
import { logDays } from './days.ts';
import { exportDays } from './days-export.ts';
import { exportLogs } from './export.ts';
import { logFacets } from './facets.ts';
import { logFailures } from './failures.ts';
import {
  ExportDays,
  LogDays,
  LogDaysQuery,
  LogFailures,
  LogFailuresQuery,
  LogStats,
  LogStatsQuery,
  LogTraffic,
  LogTrafficQuery,
} from './figures.schema.ts';
import { liveCalls } from './live/calls.ts';
import { LiveCalls, LiveQuery } from './live/schema.ts';
import { fileOfPayload, revealOfFile, revealOfPayload, revealPayload } from './payloads/reveal.ts';
import { LogProof } from './proof.schema.ts';
import { proveLog } from './proof.ts';
import { FollowLogs, ListRouteLogs, LogRef, RequestLog, RequestLogRecord, RouteLog } from './schema.ts';
import { followLogs, getLog, listRouteLogs } from './service.ts';
import { logStats } from './stats.ts';
import { logTraffic } from './traffic.ts';

export const follow = operation({
  id: 'logs.follow',
  summary: 'Follow the request log',
  http: 'GET /logs',
  kind: 'read',
  needs: ['log:list'],
  refuses: ['forbidden'],
  input: FollowLogs,
  output: z.array(RequestLog),
  list: 'feed',
  run: (ctx, input) => followLogs(ctx, input),
});

export const get = operation({
  id: 'logs.get',
  summary: 'Get a request log entry',
  http: 'GET /logs/{request_id}',
  kind: 'read',
  needs: ['log:list'],
  refuses: ['not_found'],
  input: LogRef,
  output: RequestLogRecord,
  run: (ctx, input) => getLog(ctx, input),
});

export const proof = operation({
  id: 'logs.proof',
  summary: 'Get the proof of a request log entry',
  http: 'GET /logs/{request_id}/proof',
  kind: 'read',
  needs: ['log:list'],
  refuses: ['not_found', 'rate_limit_exceeded'],
  input: LogRef,
  output: LogProof,
  run: (ctx, input) => proveLog(ctx, input),
});

export const ofRoute = operation({
  id: 'routes.logs',
  summary: 'List the calls of a route',
  http: 'GET /routes/{id}/logs',
  kind: 'read',
  needs: ['log:list'],
  refuses: ['not_found'],
  input: ListRouteLogs,
  output: z.array(RouteLog),
  list: 'paged',
  run: (ctx, input) => listRouteLogs(ctx, input),
});

export const browse = operation({
  id: 'logs.browse',
  summary: 'Browse the request log',
  http: 'GET /admin/logs',
  kind: 'read',
  needs: ['log:list'],
  refuses: [],
  input: BrowseLogs,
  output: BrowsedLogs,
  run: (ctx, input) => browseLogs(ctx, input),
});

export const inspect = operation({
  id: 'logs.inspect',
  summary: 'Get a call',
  http: 'GET /admin/logs/{request_id}',
  kind: 'read',
  needs: ['log:list'],
  refuses: ['not_found'],
  input: LogRef,
  output: LogDetail,
  run: (ctx, input) => inspectLog(ctx, input),
});

export const reveal = operation({
  id: 'logs.reveal',
  summary: 'Reveal the payload of a call',
  http: 'GET /admin/logs/{request_id}?include=payload',
  kind: 'reveal',
  needs: ['log:read_payload'],
  refuses: ['not_found', 'payload_not_captured', 'tenant_sealed'],
  input: LogRef,
  output: RevealedLog,
  reveal: revealOfPayload,
  run: (ctx, input) => revealPayload(ctx, input),
});

export const file = operation({
  id: 'logs.file',
  summary: 'Download a body of a call',
  http: 'GET /admin/logs/{request_id}/file',
  kind: 'reveal',
  needs: ['log:read_payload'],
  refuses: ['not_found', 'payload_not_captured', 'tenant_sealed'],
  input: LogFile,
  output: z.string(),
  reveal: revealOfFile,
  stream: (ctx, input) => fileOfPayload(ctx, input),
  run: async (ctx, input) => textOf(await fileOfPayload(ctx, input)),
});

export const stats = operation({
  id: 'logs.stats',
  summary: 'Get request log statistics',
  http: 'GET /admin/logs/stats',
  kind: 'read',
  needs: ['log:list'],
  refuses: [],
  input: LogStatsQuery,
  output: LogStats,
  run: (ctx, input) => logStats(ctx, input),
});

export const analytics = operation({
  id: 'logs.analytics',
  summary: 'Query analytics',
  http: 'GET /admin/analytics/query',
  kind: 'read',
  needs: ['analytics:read'],
  refuses: [],
  input: AnalyticsQuery,
  output: Analytics,
  run: (ctx, input) => queryAnalytics(ctx, input),
});

export const clientHealth = operation({
  id: 'logs.client_health',
  summary: 'Get the health of clients',
  http: 'GET /admin/client-health',
  kind: 'read',
  needs: { all: ['analytics:read', 'client:read'] },
  refuses: [],
  input: ClientHealthQuery,
  output: ClientHealth,
  run: (ctx, input) => reportClientHealth(ctx, input),
});

export const live = operation({
  id: 'logs.live',
  summary: 'Get live calls',
  http: 'GET /admin/live',
  kind: 'read',
  needs: { all: ['analytics:read', 'log:list'] },
  refuses: [],
  input: LiveQuery,
  output: LiveCalls,
  run: (ctx, input) => liveCalls(ctx, input),
});

export const facets = operation({
  id: 'logs.facets',
  summary: 'List request log filters with counts',
  http: 'GET /admin/logs/facets',
  kind: 'read',
  needs: ['log:list'],
  refuses: [],
  input: LogFacetsQuery,
  output: LogFacets,
  run: (ctx, input) => logFacets(ctx, input),
});

export const failures = operation({
  id: 'logs.failures',
  summary: 'List failed calls by route, status and reason',
  http: 'GET /admin/logs/failures',
  kind: 'read',
  needs: ['log:list'],
  refuses: [],
  input: LogFailuresQuery,
  output: LogFailures,
  run: (ctx, input) => logFailures(ctx, input),
});

export const traffic = operation({
  id: 'logs.traffic',
  summary: 'Get traffic by key, client, secret, environment or route',
  http: 'GET /admin/logs/traffic',
  kind: 'read',
  needs: ['log:list'],
  refuses: [],
  input: LogTrafficQuery,
  output: LogTraffic,
  run: (ctx, input) => logTraffic(ctx, input),
});

export const days = operation({
  id: 'logs.days',
  summary: 'Get calls per day',
  http: 'GET /admin/logs/days',
  kind: 'read',
  needs: ['log:list'],
  refuses: [],
  input: LogDaysQuery,
  output: LogDays,
  run: (ctx, input) => logDays(ctx, input),
});

export const daysExported = exporting({
  id: 'logs.days_export',
  summary: 'Export calls per day',
  http: 'GET /admin/logs/days/export',
  needs: ['log:list'],
  refuses: [],
  input: ExportDays,
  stream: exportDays,
});

export const exported = exporting({
  id: 'logs.export',
  summary: 'Export the request log',
  http: 'GET /admin/logs/export',
  needs: ['log:export'],
  feature: 'log_export',
  refuses: [],
  input: ExportLogs,
  stream: exportLogs,
});

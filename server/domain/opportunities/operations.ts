import { operation } from '#server/kernel/operation.ts';
import { acceptOpportunity } from './accept.ts';
import { interceptManifest } from './manifest.ts';
import * as observations from './observations/service.ts';
import * as wire from './schema.ts';
import * as opportunities from './service.ts';

export const list = operation({
  id: 'opportunities.list',
  summary: 'List opportunities',
  http: 'GET /opportunities',
  kind: 'read',
  needs: ['opportunity:list'],
  refuses: [],
  input: wire.ListOpportunities,
  output: wire.Opportunity.array(),
  list: 'paged',
  run: (ctx, input) => opportunities.listOpportunities(ctx, input),
});

export const accept = operation({
  id: 'opportunities.accept',
  summary: 'Accept an opportunity',
  http: 'POST /opportunities/{id}/accept',
  kind: 'change',
  needs: ['opportunity:accept', 'route:create', 'secret:read'],
  refuses: ['not_found', 'conflict', 'plan_limit'],
  input: wire.AcceptOpportunity,
  output: wire.AcceptedOpportunity,
  run: (ctx, input) => acceptOpportunity(ctx, input),
});

export const dismiss = operation({
  id: 'opportunities.dismiss',
  summary: 'Dismiss an opportunity',
  http: 'POST /opportunities/{id}/dismiss',
  kind: 'change',
  needs: ['opportunity:dismiss'],
  refuses: ['not_found', 'conflict'],
  input: wire.DismissOpportunity,
  output: wire.DismissedOpportunity,
  run: (ctx, input) => opportunities.dismissOpportunity(ctx, input),
});

export const snooze = operation({
  id: 'opportunities.snooze',
  summary: 'Snooze an opportunity',
  http: 'POST /admin/opportunities/{id}/snooze',
  kind: 'change',
  needs: ['opportunity:dismiss'],
  refuses: ['not_found', 'conflict'],
  input: wire.SnoozeOpportunity,
  output: wire.SnoozedOpportunity,
  run: (ctx, input) => opportunities.snoozeOpportunity(ctx, input),
});

export const reopen = operation({
  id: 'opportunities.reopen',
  summary: 'Reopen an opportunity',
  http: 'POST /admin/opportunities/{id}/reopen',
  kind: 'change',
  needs: ['opportunity:dismiss'],
  refuses: ['not_found', 'conflict'],
  input: wire.OpportunityRef,
  output: wire.Opportunity,
  run: (ctx, input) => opportunities.reopenOpportunity(ctx, input),
});

export const manifest = operation({
  id: 'opportunities.manifest',
  summary: 'Get the intercept manifest',
  http: 'GET /wrap/intercept-manifest',
  kind: 'read',
  needs: ['route:read'],
  refuses: ['not_found'],
  input: wire.InterceptManifestQuery,
  output: wire.InterceptManifest,
  cache: 'private, no-cache',
  etag: ({ version }) => `W/"${version}"`,
  run: (ctx, input) => interceptManifest(ctx, input),
});

/** Counts what SDKs saw. Nothing that anybody manages changes, and a report every minute from each process would bury the audit log. */
export const reportEgress = operation({
  id: 'opportunities.report_egress',
  summary: 'Report uncovered calls',
  http: 'POST /wrap/egress-observations',
  kind: 'read',
  needs: ['route:read'],
  refuses: [],
  input: wire.ReportEgress,
  output: wire.EgressReport,
  run: (ctx, input) => observations.reportEgress(ctx, input),
});

export const observed = operation({
  id: 'opportunities.observed',
  summary: 'List hosts of uncovered calls',
  http: 'GET /admin/egress-observations',
  kind: 'read',
  needs: ['opportunity:list'],
  refuses: [],
  input: wire.ListEgress,
  output: wire.ObservedHost.array(),
  list: 'paged',
  run: (ctx, input) => observations.listObservedHosts(ctx, input),
});

export const ignoreHost = operation({
  id: 'opportunities.ignore_host',
  summary: 'Ignore a host',
  http: 'POST /admin/egress-observations/hosts/{host}/ignore',
  kind: 'change',
  needs: ['opportunity:dismiss'],
  refuses: ['not_found'],
  input: wire.IgnoreHost,
  output: wire.IgnoredHost,
  run: (ctx, input) => observations.ignoreHost(ctx, input),
});

export const showHost = operation({
  id: 'opportunities.show_host',
  summary: 'Stop ignoring a host',
  http: 'DELETE /admin/egress-observations/hosts/{host}/ignore',
  kind: 'change',
  needs: ['opportunity:dismiss'],
  refuses: ['not_found'],
  input: wire.ObservedHostRef,
  output: wire.ShownHost,
  run: (ctx, input) => observations.showHost(ctx, input),
});

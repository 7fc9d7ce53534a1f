import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { isoTime, label, optionalLabel, pathId, time } from '#server/kernel/fields.ts';
import { listQuery, pageQuery } from '#server/kernel/page.ts';
import { MOST_OBSERVATIONS } from './observations/rules.shared.ts';

export const SOURCES = ['agent_monitor', 'gateway_traffic'] as const;
export const STATUSES = ['pending', 'snoozed', 'onboarded', 'dismissed'] as const;
export type Status = (typeof STATUSES)[number];

export const SuggestedRoute = z
  .object({
    name: z.string(),
    slug: z.string().nullable(),
    target_base_url: z.string(),
    environment: z.string(),
    collection_name: z.string(),
    header_name: z.string(),
    value_prefix: z.string(),
    allowed_methods: z.array(z.string()).nullable(),
    intercept_enabled: z.boolean(),
  })
  .meta({ id: 'SuggestedRoute' });
export type SuggestedRoute = z.output<typeof SuggestedRoute>;

/** Names and counts alone: no values, no queries, no whole paths. */
export const Evidence = z
  .object({
    calls_30d: z.number().int(),
    days_seen: z.number().int(),
    first_seen: z.string().nullable(),
    last_seen: z.string().nullable(),
    methods: z.record(z.string(), z.number().int()),
    path_prefixes: z.array(z.string()),
    status_classes: z.record(z.string(), z.number().int()),
    credential_modes: z.object({
      transit: z.number().int(),
      escrow: z.number().int(),
      none: z.number().int(),
      direct_header: z.array(z.string()),
    }),
    sdks: z.array(z.string()),
    agents: z.array(z.string()),
    reporters: z.number().int(),
  })
  .meta({ id: 'OpportunityEvidence' });
export type Evidence = z.output<typeof Evidence>;

export const Opportunity = z
  .object({
    id: z.uuid(),
    source: z.enum(SOURCES),
    service: z.string(),
    destination_host: z.string().nullable(),
    status: z.enum(STATUSES),
    confidence: z.number().nullable(),
    suggested_route_json: SuggestedRoute.nullable(),
    evidence_json: Evidence.nullable(),
    accepted_route_id: z.uuid().nullable(),
    snoozed_until: time().nullable(),
    dismiss_reason: z.string().nullable(),
    created_at: time(),
    updated_at: time(),
    acted_at: time().nullable(),
  })
  .meta({ id: 'Opportunity' });

export const ListOpportunities = listQuery({
  sorts: ['created_at', 'confidence'],
  sort: 'confidence',
  order: 'desc',
  filters: {
    id: z.uuid().optional(),
    status: z.enum(STATUSES).optional(),
    source: z.enum(SOURCES).optional(),
    host: z.string().min(1).max(254).optional(),
    q: z.string().max(100).optional(),
  },
});

/** Fields of the message or its connection, and ours, carry no credential. */
const UNUSABLE = /^(?:host|content-length|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|x-svc-.*)$/i;
const headerName = () =>
  z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, 'must be a header name of at most 64 characters')
    .refine((name) => !UNUSABLE.test(name.replaceAll('_', '-')), "can't be used for a credential");
const valuePrefix = () =>
  z
    .string()
    .max(64)
    .regex(/^(?:[!-~][ -~]*)?$/, 'must be printable ASCII and must not start with a space')
    .refine((text) => !/[{}]/.test(text), 'must not contain curly braces');
const basePath = () =>
  z
    .string()
    .max(512)
    .regex(/^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*$/, 'must be a path such as /v1, without query, fragment or variables');

export const AcceptOpportunity = z.object({
  id: pathId(),
  collection_name: label(100).optional(),
  environment: environmentName().optional(),
  /** Name or ID of a secret. */
  secret: z.string().min(1).max(128).optional(),
  header_name: headerName().optional(),
  value_prefix: valuePrefix().optional(),
  route_name: label(100).optional(),
  slug: z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be 1 to 63 lowercase letters, digits or hyphens, and must not start or end with a hyphen',
    )
    .optional(),
  base_path: basePath().optional(),
  intercept_enabled: z.boolean().optional(),
});
export const AcceptedOpportunity = z
  .object({
    opportunity_id: z.uuid(),
    route: z.object({ id: z.uuid(), slug: z.string().nullable(), name: z.string() }),
    collection_id: z.uuid(),
    environment: z.string(),
  })
  .meta({ id: 'AcceptedOpportunity' });

export const OpportunityRef = z.object({ id: pathId() });
export const DismissOpportunity = z.object({ id: pathId(), reason: optionalLabel(300).optional() });
export const DismissedOpportunity = z
  .object({ opportunity_id: z.uuid(), status: z.literal('dismissed') })
  .meta({ id: 'DismissedOpportunity' });

/** Between an hour and 90 days ahead. */
export const SnoozeOpportunity = z.object({ id: pathId(), until: isoTime() });
export const SnoozedOpportunity = z
  .object({ opportunity_id: z.uuid(), status: z.literal('snoozed'), until: time() })
  .meta({ id: 'SnoozedOpportunity' });

export const InterceptManifestQuery = z.object({ environment: z.string().min(1).max(64).optional() });
export const InterceptManifest = z
  .object({
    version: z.string(),
    ttl_seconds: z.number().int(),
    environment: z.string(),
    sandbox: z.boolean(),
    routes: z.array(
      z.object({
        host: z.string(),
        base_path: z.string(),
        slug: z.string(),
        route_id: z.uuid(),
        requires_clients: z.boolean(),
        allowed_methods: z.array(z.string()).nullable(),
        ambiguous: z.literal(true).optional(),
        updated_at: time().nullable(),
      }),
    ),
  })
  .meta({ id: 'InterceptManifest' });

/** Entries are judged one by one: an invalid one is dropped and counted. */
export const ReportEgress = z.object({ sdk: z.string().min(1).max(64), observations: z.array(z.unknown()).min(1).max(MOST_OBSERVATIONS) });
const Reasons = z.record(z.string(), z.number().int());
export const EgressReport = z
  .object({ accepted: z.number().int(), dropped: z.number().int(), reasons: Reasons, redacted: Reasons.optional() })
  .meta({ id: 'EgressReport' });

export const HOST_STATES = ['uncovered', 'covered', 'ignored'] as const;
export const ListEgress = z.object({
  ...pageQuery,
  status: z.enum(HOST_STATES).optional(),
  host: z.string().min(1).max(254).optional(),
});
export const ObservedHost = z
  .object({
    host: z.string(),
    segments: z.array(z.string()),
    methods: z.array(z.string()),
    header_names: z.array(z.string()),
    sdks: z.array(z.string()),
    calls: z.number().int(),
    first_seen: time(),
    last_seen: time(),
    covered_by_route: z.object({ id: z.uuid(), name: z.string() }).nullable(),
    ignored: z.boolean(),
    ignored_until: time().nullable(),
    opportunity_id: z.uuid().nullable(),
  })
  .meta({ id: 'ObservedHost' });
export const IgnoreHost = z.object({ host: pathId(), until: isoTime().optional() });
export const ObservedHostRef = z.object({ host: pathId() });
export const IgnoredHost = z.object({ host: z.string(), until: time().nullable() }).meta({ id: 'IgnoredHost' });
export const ShownHost = z.object({ host: z.string(), ignored: z.literal(false) }).meta({ id: 'ShownHost' });

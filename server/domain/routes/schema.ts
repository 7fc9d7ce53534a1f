import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { atLeastOne, flag, label, pathId, secret, time, uuid } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { slugOfName } from '#server/kernel/slug.ts';
import { baseFields, configAnswer, configAnswerMore, headerNameProblem, METHODS, overrideFields } from './config/schema.ts';
import { TrialReport } from './trial/schema.ts';

/** Path segments of other planes on the same host (interface rule 10 §4.2). */
const RESERVED_ROUTE_SLUGS: ReadonlySet<string> = new Set(
  'api v1 v2 scim admin auth oauth p _capture _next .well-known healthz readyz metrics static favicon.ico robots.txt'.split(' '),
);
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const UUID_LIKE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const routeSlug = () =>
  z
    .string()
    .regex(SLUG, 'must be 1 to 63 lowercase letters, digits or hyphens, and must not start or end with a hyphen')
    .refine((s) => !RESERVED_ROUTE_SLUGS.has(s), 'is a reserved word')
    .refine((s) => !UUID_LIKE.test(s), 'must not look like an ID')
    .meta({ not: { enum: [...RESERVED_ROUTE_SLUGS] }, examples: ['stripe'] });

/** A slug from a name; null when nothing usable is left (interface rule 10 §4.2). */
export function routeSlugFrom(name: string): string | null {
  const slug = slugOfName(name, 63);
  return routeSlug().safeParse(slug).success ? slug : null;
}

const editable = {
  name: label(100),
  enabled: z.boolean(),
  slug: routeSlug().nullable(),
  base_environment: environmentName(),
  collection_id: uuid().nullable(),
};

export const CreateRoute = z
  .object({ ...baseFields, ...z.object(editable).partial().shape })
  .required({ name: true, target_base_url: true });
export const UpdateRoute = atLeastOne(z.object({ id: pathId(), ...baseFields, ...z.object(editable).partial().shape }));
export const RouteRef = z.object({ id: pathId() });
export const RouteEnvironmentRef = z.object({ id: pathId(), env: pathId() });
export const PutRouteEnvironment = z.object({ ...overrideFields, ...RouteEnvironmentRef.shape });
export const SetRouteClients = z.object({
  ...RouteEnvironmentRef.shape,
  client_ids: z.array(uuid()).max(500, 'must have at most 500 entries'),
});
export const DuplicateRoute = z.object({ id: pathId(), name: label(100).optional(), include_clients: z.boolean().default(true) });

export const ListRoutes = listQuery({
  sorts: ['created_at', 'name', 'enabled'],
  sort: 'created_at',
  order: 'desc',
  filters: {
    enabled: flag().optional(),
    collection_id: uuid().optional(),
    environment: environmentName().optional(),
    q: z.string().max(100).optional(),
  },
});

const identity = {
  id: z.uuid(),
  name: z.string(),
  slug: z.string().nullable(),
  target_base_url: z.string().nullable(),
  base_environment: z.string().nullable(),
  enabled: z.boolean(),
  requires_clients: z.boolean(),
  collection_id: z.uuid().nullable(),
  created_at: time(),
};

export const Route = z
  .object({
    ...identity,
    environment_override_count: z.number().int(),
    require_signature: z.boolean(),
    rate_limit_enabled: z.boolean(),
    rate_limit_requests: z.number().int().nullable(),
    rate_limit_window_sec: z.number().int().nullable(),
    allowed_methods: z.array(z.string()).nullable(),
  })
  .meta({ id: 'Route' });

/** What POST and PATCH answer. */
export const RouteRecord = z
  .object({
    ...identity,
    mtls_certificate_id: z.uuid().nullable(),
    egress_server_id: z.null(),
    tenant_id: z.uuid(),
    sandbox: z.boolean(),
    favicon_url: z.string().nullable(),
    favicon_updated_at: time().nullable(),
    favicon_data: z.string().nullable(),
    updated_at: time(),
  })
  .meta({ id: 'RouteRecord' });

export const RouteEnvironmentSummary = z
  .object({
    environment_name: z.string(),
    enabled: z.boolean(),
    ...configAnswer,
    method_configs: configAnswerMore.method_configs,
    overridden_fields: z.array(z.string()),
  })
  .meta({ id: 'RouteEnvironmentSummary' });

export const RouteEnvironmentConfig = z
  .object({
    id: z.uuid(),
    route_id: z.uuid(),
    ...RouteEnvironmentSummary.shape,
    ...configAnswerMore,
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'RouteEnvironmentConfig' });

/** One route with its base configuration at the top level and every environment beside it. */
export const RouteDetail = z
  .object({
    ...identity,
    ...configAnswer,
    ...configAnswerMore,
    environment_override_count: z.number().int(),
    configured_environments: z.array(z.string()),
    updated_at: time(),
    environments: z.array(RouteEnvironmentSummary),
  })
  .meta({ id: 'RouteDetail' });

export const RouteClient = z
  .object({ client_id: z.uuid(), name: z.string(), type: z.string(), ip_address: z.string(), enabled: z.boolean() })
  .meta({ id: 'RouteClient' });

export const DuplicatedRoute = z.object({ route: RouteRecord }).meta({ id: 'DuplicatedRoute' });

/** Up to a page of routes, their ids with commas between. */
export const OverviewRoutes = z.object({
  ids: z
    .string()
    .max(100 * 37)
    .transform((text) => text.split(',').filter(Boolean))
    .pipe(z.array(uuid()).max(100)),
});
/** Beside a route of the dashboard's list: where it serves, and its last 24 hours, `calls_by_hour` from the oldest to this one. */
export const RouteOverview = z
  .object({
    route_id: z.uuid(),
    environments: z.array(z.object({ name: z.string(), enabled: z.boolean() })),
    calls: z.number().int(),
    errors: z.number().int(),
    calls_by_hour: z.array(z.number().int()),
  })
  .meta({ id: 'RouteOverview' });

/** What the upstream host of a route shows as its icon: a PNG or an ICO, as a data URL. */
export const RouteIcon = z
  .object({ route_id: z.uuid(), icon: z.string().regex(/^data:image\/(?:png|x-icon);base64,/) })
  .meta({ id: 'RouteIcon' });

/** Who would notice if a route were deleted. */
export const RouteImpact = z
  .object({
    calls_24h: z.number().int(),
    errors_24h: z.number().int(),
    callers: z.array(z.object({ kind: z.enum(['api_key', 'client']), id: z.uuid(), name: z.string().nullable(), calls: z.number().int() })),
    assigned_clients: z.number().int(),
    environments: z.array(z.string()),
    secrets: z.array(z.object({ id: z.uuid(), name: z.string(), used_elsewhere: z.boolean() })),
  })
  .meta({ id: 'RouteImpact' });

/** Routes whose templates were rewritten. */
export const RewrittenRoutes = z.object({ routes: z.array(z.object({ id: z.uuid(), name: z.string() })) }).meta({ id: 'RewrittenRoutes' });

const wellFormed = (text: string) => text.isWellFormed();
/** One request to send through a route. `path` may carry a query; `query` is added to it. */
export const TestRoute = z.object({
  id: pathId(),
  environment: environmentName().optional(),
  method: z
    .string()
    .transform((m) => m.toUpperCase())
    .pipe(z.enum(METHODS)),
  path: z
    .string()
    .max(4096)
    .regex(/^(?:[/?]|$)/, 'must start with /')
    .refine((text) => !text.includes('#') && wellFormed(text), 'must not contain a fragment')
    .default('/'),
  query: z
    .array(z.object({ key: z.string().min(1).max(256).refine(wellFormed), value: z.string().max(4096).refine(wellFormed) }))
    .max(50)
    .default([]),
  headers: z
    .array(
      z.object({
        name: z.string().superRefine((name, ctx) => {
          const problem = headerNameProblem(name);
          if (problem) ctx.addIssue({ code: 'custom', message: problem.replace('injected', 'sent here') });
        }),
        // A credential more often than not.
        value: secret(
          z
            .string()
            .max(8 * 1024)
            .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must only contain characters that are allowed in a header'),
        ),
      }),
    )
    .max(50)
    .default([]),
  body: z
    .string()
    .max(128 * 1024)
    .default(''),
  body_encoding: z.enum(['text', 'base64']).default('text'),
  dry_run: z.boolean().default(false),
});
export const TestedRoute = TrialReport.extend({ request_id: z.uuid(), dry_run: z.boolean() }).meta({ id: 'TestedRoute' });

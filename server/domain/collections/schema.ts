import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { atLeastOne, baseUrl, color, label, pathId, text, time, uuid } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { slugOfName } from '#server/kernel/slug.ts';
import { MOST_OWNERS } from './owners.shared.ts';

/** A collection: routes, secrets and clients that belong together, their variables and expected environments (interface rules 30 §16, 10 §13). */
export const Collection = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    color: z.string().nullable(),
    icon: z.string().nullable(),
    expected_environments: z.array(z.string()),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'Collection' });

export const CollectionDetail = Collection.extend({
  route_count: z.number().int(),
  secret_count: z.number().int(),
  client_count: z.number().int(),
  variable_count: z.number().int(),
}).meta({ id: 'CollectionDetail' });

const collectionSlug = () =>
  z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be 1 to 63 lowercase letters, digits or hyphens, and must not start or end with a hyphen',
    );

/** Never empty: a name without usable letters becomes `collection`. */
export const collectionSlugFrom = (name: string) => slugOfName(name, 63) || 'collection';

const editable = z
  .object({ name: label(100), slug: collectionSlug(), description: text(500), color: color().nullable(), icon: label(64).nullable() })
  .partial();

export const CreateCollection = editable.required({ name: true });
export const UpdateCollection = atLeastOne(z.object({ id: pathId(), ...editable.shape }));
export const CollectionRef = z.object({ id: pathId() });
/** All member routes, or the one. */
export const SyncStatusQuery = z.object({ id: pathId(), route_id: uuid().optional() });
export const ListCollections = listQuery({ sorts: ['name'], sort: 'name', order: 'asc', filters: { q: z.string().max(100).optional() } });

/** What every member route is expected to look like in each environment. */
export const EnvironmentDefaults = z
  .object({
    expected_environments: z.array(z.string()),
    environments: z.array(
      z.object({ environment_name: z.string(), base_url: z.string().nullable(), default_client_ids: z.array(z.uuid()) }),
    ),
    updated_at: time(),
  })
  .meta({ id: 'CollectionEnvironmentDefaults' });

/** Environments a collection may expect, and clients it may give each by default. */
export const MOST_EXPECTED = 100;
export const MOST_DEFAULT_CLIENTS = 500;
export const PutEnvironmentDefaults = z.object({
  id: pathId(),
  expected_environments: z.array(environmentName()).max(MOST_EXPECTED),
  environments: z
    .array(
      z.object({
        environment_name: environmentName(),
        base_url: baseUrl().nullable().default(null),
        default_client_ids: z.array(uuid()).max(MOST_DEFAULT_CLIENTS).default([]),
      }),
    )
    .max(100)
    .refine((list) => new Set(list.map((e) => e.environment_name)).size === list.length, 'must have only one entry per environment')
    .default([]),
});

export const Drift = z.object({
  environment: z.string(),
  kind: z.enum(['missing_environment', 'base_url', 'missing_client']),
  expected: z.string().nullable(),
  actual: z.string().nullable(),
});
export const SyncStatus = z
  .object({ route_id: z.uuid(), route_name: z.string(), in_sync: z.boolean(), drift: z.array(Drift) })
  .meta({ id: 'SyncStatus' });

export const ResetRoute = z.object({ id: pathId(), routeId: pathId() });

/** Members who answer for a collection, and those of the workspace who could, by name. */
const Member = z.object({ id: z.uuid(), name: z.string() });
export const CollectionOwners = z.object({ owners: z.array(Member), members: z.array(Member) }).meta({ id: 'CollectionOwners' });
export const PutOwners = z.object({ id: pathId(), user_ids: z.array(uuid()).max(MOST_OWNERS) });

export const OverviewCollections = z.object({
  ids: z
    .string()
    .max(100 * 37)
    .transform((text) => text.split(',').filter(Boolean))
    .pipe(z.array(uuid()).max(100)),
});
/** A card of the dashboard: what is in the collection, who answers for it, and how its routes did in the last 24 hours. */
export const CollectionOverview = z
  .object({
    collection_id: z.uuid(),
    route_count: z.number().int(),
    secret_count: z.number().int(),
    client_count: z.number().int(),
    variable_count: z.number().int(),
    /** Routes that differ from what the collection expects; null when it expects nothing. */
    drifting: z.number().int().nullable(),
    owners: z.array(Member),
    calls: z.number().int(),
    errors: z.number().int(),
  })
  .meta({ id: 'CollectionOverview' });

export const MoveMembers = z.object({ id: pathId(), type: z.enum(['route', 'secret', 'client']), ids: z.array(uuid()).min(1).max(100) });
export const Moved = z.object({ moved: z.number().int() });

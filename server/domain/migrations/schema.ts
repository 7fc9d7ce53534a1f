import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { secretName } from '#server/domain/secrets/schema.ts';
import { atLeastOne, flag, isoTime, label, optionalLabel, pathId, secret, time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';
import {
  DB_PROTOCOLS,
  ITEM_KINDS,
  ITEM_STATUSES,
  MIGRATION_STATUSES,
  MODES,
  PROVIDERS,
  RESPONSE_FORMATS,
  TLS_MODES,
} from './register.shared.ts';

const count = () => z.int().min(0);

export const ErrorDetails = z.object({
  code: z.string(),
  message: z.string(),
  provider_request_id: z.string().optional(),
  region: z.string().optional(),
});

/** What the list shows (interface rule 35 §4). */
export const Migration = z
  .object({
    id: z.uuid(),
    provider: z.enum(PROVIDERS),
    mode: z.enum(MODES),
    status: z.enum(MIGRATION_STATUSES),
    /** One region, several separated by commas, or empty for stores without regions. */
    region: z.string(),
    discovered_count: count(),
    approved_count: count(),
    rejected_count: count(),
    committed_count: count(),
    expired_count: count(),
    denylisted_count: count(),
    error_details: ErrorDetails.nullable(),
    created_at: time(),
    started_at: time().nullable(),
    completed_at: time().nullable(),
    created_by: z.string().nullable(),
  })
  .meta({ id: 'Migration' });
export const Migrations = z.object({ migrations: z.array(Migration) });

export const MigrationDetail = Migration.extend({
  scope: z.record(z.string(), z.unknown()),
  credentials_summary: z.record(z.string(), z.string()),
  credentials_expires_at: time().nullable(),
  pending_count: count(),
  /** The earliest end of an item that is still to be decided or committed. */
  review_deadline: time().nullable(),
  safe_to_delete: z.boolean(),
  verified_at: time().nullable(),
  verification_window_days: z.int(),
  rules_count: count(),
  db_routes_count: count(),
  last_heartbeat_at: time().nullable(),
  created_by_name: z.string().nullable(),
}).meta({ id: 'MigrationDetail' });

const patterns = () =>
  z
    .array(
      z.object({
        pattern: label(200),
        kind: z.enum(['glob', 'regex', 'tag']).default('glob'),
        note: optionalLabel(200).default(null),
      }),
    )
    .max(200);

const strings = (max: number, length: number) => z.array(z.string().trim().min(1).max(length)).max(max);

/**
 * Grant and scope of any provider. Members that no provider knows stay visible to the service, which looks for static credentials in all of them; which
 * members a provider needs is `provider-input.ts`'s to say.
 */
const Credentials = z.looseObject({
  role_arn: z.string().max(2_048).optional(),
  external_id: z.string().min(2).max(1_224).optional(),
  tenant_id: z.string().max(64).optional(),
  client_id: z.string().max(64).optional(),
  project_number: z.union([z.string().max(32), z.int()]).optional(),
  workload_identity_pool: z.string().max(64).optional(),
  workload_identity_provider: z.string().max(64).optional(),
  service_account_email: z.string().max(256).optional(),
  address: z.string().max(2_048).optional(),
  auth: z
    .looseObject({
      method: z.enum(['jwt', 'wrapped_token']),
      role: z.string().max(256).optional(),
      mount: z.string().max(256).optional(),
      token: secret(z.string().max(4_096)).optional(),
    })
    .optional(),
});

const Scope = z.looseObject({
  regions: strings(40, 32).optional(),
  arn_allowlist: strings(200, 2_048).optional(),
  path_prefixes: strings(200, 1_024).optional(),
  subscription_id: z.string().max(64).optional(),
  vault_names: strings(100, 64).optional(),
  project_ids: strings(100, 64).optional(),
  mounts: strings(50, 256).optional(),
});

export const CreateMigration = z.looseObject({
  provider: z.enum(PROVIDERS),
  mode: z.enum(MODES).default('pull'),
  credentials: Credentials.optional(),
  scope: Scope.optional(),
  /** The text of a .env file, of at most 1 MiB. */
  content: secret(z.string().max(1_048_576)).optional(),
  file_name: label(200).optional(),
  review_ttl_hours: z.int().min(1).max(720).default(168),
  denylist: patterns().default([]),
  name_template: z.string().min(1).max(200).default('{name}'),
  default_environment: environmentName().optional(),
  default_collection_id: uuid().nullable().optional(),
});

export const CreatedMigration = z
  .object({ id: z.uuid(), status: z.literal('pending'), provider: z.enum(PROVIDERS), mode: z.enum(MODES), created_at: time() })
  .meta({ id: 'CreatedMigration' });

export const MigrationRef = z.object({ id: pathId() });
export const MigrationMoved = z.object({ id: z.uuid(), status: z.enum(MIGRATION_STATUSES) });

/** What a wizard prints: who we are at each store, and what a grant for us looks like. */
export const MigrationSetup = z
  .object({
    external_id: z.string(),
    role_name: z.string(),
    aws_principal: z.string().nullable(),
    workload_identity: z.object({ issuer: z.string(), subject: z.string(), azure_audience: z.string() }),
  })
  .meta({ id: 'MigrationSetup' });

const Suggested = z.object({
  name: z.string(),
  environment: z.string().nullable(),
  collection: z.string().nullable(),
  tags: z.array(z.string()),
  split_keys: z.array(z.string()),
});

export const MigrationItem = z
  .object({
    id: z.uuid(),
    source_ref: z.string(),
    source_name: z.string(),
    source_version: z.string(),
    source_region: z.string(),
    source_updated_at: time().nullable(),
    kind: z.enum(ITEM_KINDS),
    /** In bytes; null without a value. */
    value_length: z.int().nullable(),
    source_tags: z.record(z.string(), z.string()),
    discovered_via: z.enum(['pull', 'capture']),
    bucket: z.enum(['A', 'B']).nullable(),
    suggested: Suggested,
    conflict: z.object({ secret_id: z.uuid(), name: z.string() }).nullable(),
    status: z.enum(ITEM_STATUSES),
    fetch_error: z.string().nullable(),
    decision: z
      .object({
        by: z.string().nullable(),
        at: time(),
        reason: z.string().optional(),
        action: z.string().optional(),
        target_name: z.string().optional(),
        environment: z.string().nullable().optional(),
        split: z.string().optional(),
        secret_type: z.string().optional(),
        existing_secret_id: z.string().optional(),
      })
      .nullable(),
    expires_at: time().nullable(),
    committed_secret_ids: z.array(z.uuid()),
  })
  .meta({ id: 'MigrationItem' });

export const ListItems = z.object({
  id: pathId(),
  status: z.enum(ITEM_STATUSES).optional(),
  q: z.string().max(256).optional(),
  tag: z.string().max(256).optional(),
  ...pageQuery,
});
export const MigrationItems = z.object({ items: z.array(MigrationItem), total: count(), page: z.int(), per_page: z.int() });

export const ItemRef = z.object({ id: pathId(), itemId: pathId() });
export const RevealItem = z.object({ id: pathId(), itemId: pathId(), full: flag().default(false) });
export const RevealedItem = z
  .object({
    id: z.uuid(),
    value: z.string(),
    value_length: z.int(),
    /** The first 16 hex digits of the SHA-256 of the stored bytes. */
    value_sha256_prefix: z.string(),
    mode: z.enum(['obfuscated', 'full']),
  })
  .meta({ id: 'RevealedItem' });

const date = () => isoTime().transform((v) => new Date(v));

/** What a secret made from an item is to be (interface rule 35 §7.2). */
const target = {
  action: z.enum(['create', 'new_version']).default('create'),
  /** Absent: the suggestion. */
  target_name: secretName().optional(),
  environment: environmentName().optional(),
  collection_id: uuid().nullable().optional(),
  tags: z.array(label(50)).max(20).optional(),
  existing_secret_id: uuid().optional(),
  split: z.enum(['none', 'json_keys']).default('none'),
  secret_type: z.enum(['string', 'certificate']).default('string'),
  expires_at: date().nullable().optional(),
  allowed_hosts: z.array(z.string().min(1).max(300)).min(1).max(50).nullable().optional(),
};
const reason = () => label(500);

export const ApproveItem = z.object({ id: pathId(), itemId: pathId(), ...target });
export const ApprovedTarget = z.object(target);
export const RejectItem = z.object({ id: pathId(), itemId: pathId(), reason: reason() });
export const ApproveItems = z.object({
  id: pathId(),
  items: z
    .array(z.object({ id: uuid(), ...target }))
    .min(1)
    .max(100),
});
export const RejectItems = z.object({
  id: pathId(),
  items: z
    .array(z.object({ id: uuid(), reason: reason() }))
    .min(1)
    .max(100),
});
export const DecidedItem = z.object({ id: z.uuid(), status: z.enum(ITEM_STATUSES) });
export const DecidedItems = z.object({ items: z.array(DecidedItem) });

export const CommitItems = z.object({ id: pathId(), item_ids: z.array(uuid()).min(1).max(500).optional() });
export const Committed = z
  .object({
    committed: count(),
    secrets: z.array(z.object({ item_id: z.uuid(), secret_id: z.uuid(), name: z.string(), environment: z.string() })),
    migration_status: z.enum(MIGRATION_STATUSES),
  })
  .meta({ id: 'CommittedItems' });

/** What a commit of all approved items would do; nothing is decrypted, so keys of split values are those of the discovery. */
export const CommitPreview = z
  .object({
    creates: count(),
    new_versions: count(),
    secrets_needed: count(),
    /** null: the plan sets no limit. */
    secrets_available: count().nullable(),
    conflicts: z.array(z.object({ id: z.uuid(), code: z.string(), name: z.string() })),
  })
  .meta({ id: 'CommitPreview' });

export const DenylistPattern = z.object({
  pattern: z.string(),
  kind: z.enum(['glob', 'regex', 'tag']),
  note: z.string().nullable(),
  created_by: z.string().nullable(),
  created_at: time().nullable(),
});
export const Denylist = z.object({ patterns: z.array(DenylistPattern), default: z.boolean() });
export const PutDenylist = z.object({ patterns: patterns() });
export const DenylistSaved = Denylist.extend({
  /** Items that wait for review and would be denied now. */
  matching_items: z.array(z.object({ migration_id: z.uuid(), item_id: z.uuid(), source_name: z.string() })),
});

export const Verification = z
  .object({
    migration_id: z.uuid(),
    safe_to_delete: z.boolean(),
    verified_at: time().nullable(),
    verification_window_days: z.int(),
    events: z.array(
      z.object({
        id: z.uuid(),
        secret_migration_item_id: z.uuid().nullable(),
        event_type: z.string(),
        endpoint_url: z.string().nullable(),
        outcome: z.string(),
        details: z.record(z.string(), z.unknown()),
        source: z.enum(['manual', 'auto']),
        created_at: time(),
      }),
    ),
  })
  .meta({ id: 'MigrationVerification' });
export const ConfirmClean = z.object({
  id: pathId(),
  secret_migration_item_id: uuid().optional(),
  notes: z.string().trim().max(1_000).optional(),
});
export const MadeId = z.object({ id: z.uuid() });

const uids = () => z.array(z.int().min(0).max(4_294_967_295)).max(50);

export const InterceptRule = z
  .object({
    id: z.uuid(),
    match_host: z.string(),
    match_path_prefix: z.string(),
    match_secret_ref: z.string(),
    committed_secret_id: z.uuid(),
    environment: z.string().nullable(),
    response_format: z.enum(RESPONSE_FORMATS),
    agent_id: z.string().nullable(),
    allowed_uids: z.array(z.number()),
    enabled: z.boolean(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'MigrationInterceptRule' });
export const InterceptRules = z.object({ rules: z.array(InterceptRule) });

const ruleFields = {
  match_host: z.string().trim().toLowerCase().min(1).max(253),
  match_path_prefix: z
    .string()
    .min(1)
    .max(1_024)
    .regex(/^\/[\x21-\x7e]*$/, 'must start with / and have no spaces'),
  match_secret_ref: label(2_048),
  committed_secret_id: uuid(),
  environment: environmentName().nullable(),
  response_format: z.enum(RESPONSE_FORMATS),
  agent_id: optionalLabel(128),
  allowed_uids: uids(),
  enabled: z.boolean(),
};
export const CreateRule = z.object({
  id: pathId(),
  ...ruleFields,
  match_path_prefix: ruleFields.match_path_prefix.default('/'),
  environment: ruleFields.environment.default(null),
  agent_id: ruleFields.agent_id.default(null),
  allowed_uids: ruleFields.allowed_uids.default([]),
  enabled: ruleFields.enabled.default(true),
});
export const RuleRef = z.object({ id: pathId(), ruleId: pathId() });
export const UpdateRule = atLeastOne(z.object({ id: pathId(), ruleId: pathId(), ...z.object(ruleFields).partial().shape }), [
  'id',
  'ruleId',
]);

export const DbRoute = z
  .object({
    id: z.uuid(),
    protocol: z.enum(DB_PROTOCOLS),
    upstream_host: z.string(),
    upstream_port: z.int(),
    upstream_database: z.string().nullable(),
    upstream_username: z.string().nullable(),
    tls_mode: z.enum(TLS_MODES),
    local_port: z.int(),
    agent_id: z.string().nullable(),
    allowed_uids: z.array(z.number()),
    committed_secret_id: z.uuid(),
    secret_migration_item_id: z.uuid().nullable(),
    created_at: time(),
  })
  .meta({ id: 'MigrationDbRoute' });
export const DbRoutes = z.object({ routes: z.array(DbRoute) });

const HOST = /^(?!-)[A-Za-z0-9_.:-]{1,253}$/;
export const CreateDbRoute = z.object({
  id: pathId(),
  protocol: z.enum(DB_PROTOCOLS),
  upstream_host: z.string().trim().regex(HOST, 'must be a host name or an IP address'),
  upstream_port: z.int().min(1).max(65_535),
  committed_secret_id: uuid(),
  local_port: z.int().min(1_024).max(65_535),
  upstream_database: optionalLabel(128).default(null),
  upstream_username: optionalLabel(128).default(null),
  tls_mode: z.enum(TLS_MODES).default('prefer'),
  agent_id: optionalLabel(128).default(null),
  allowed_uids: uids().default([]),
  secret_migration_item_id: uuid().nullable().default(null),
});
export const DbRouteRef = z.object({ id: pathId(), routeId: pathId() });

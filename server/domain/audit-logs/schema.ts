import { z } from 'zod';
import { isoTime, pathId, queryInt, time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';

/** What goes into the critical chain (interface rule 61 §3.3): closed lists, no file adds to them without adding here. */
const CRITICAL_ACTIONS = [
  'byok.kms.onboard',
  'byok.kms.rotate',
  'byok.kms.unseal',
  'byok.kms.revoke',
  'migration.create',
  'migration.cancel',
  'migration.item.reveal',
  'migration.item.approve',
  'migration.item.reject',
  'migration.item.expire',
  'migration.commit',
  'migration.credentials.expired',
  'migration.db_proxy_route.create',
  'migration.db_proxy_route.delete',
  'tenant.impersonate',
  'request_log.anchor',
  'audit_chain.seal',
  'audit_chain.accept',
] as const;
export type CriticalAction = (typeof CRITICAL_ACTIONS)[number];
const CRITICAL_RESOURCES = [
  'tenant_kms_config',
  'tenant_master_key',
  'secret_migration',
  'secret_migration_item',
  'migration_db_proxy_route',
  'migration_credential',
  'tenant_impersonation_session',
  'request_log',
  'audit_chain',
] as const;
export type CriticalResource = (typeof CRITICAL_RESOURCES)[number];

const details = z
  .record(z.string(), z.json())
  .meta({ description: 'Sanitized when written. Only `{sandbox}` if `details_redacted` is `true`.' });

/** An entry of either store, as every reader sees it (interface rule 61 §2). */
export const AuditLogEntry = z
  .object({
    id: z.uuid(),
    action: z.string(),
    resource_type: z.string(),
    resource_id: z.string().nullable(),
    details,
    ip_address: z.string().nullable(),
    created_at: time(),
    details_redacted: z.boolean().optional(),
  })
  .meta({ id: 'AuditLogEntry' });

/** The dashboard's view: the same, and who did it, apart from details. */
export const AuditEntryView = AuditLogEntry.extend({
  /** of the address; null when it is not known */
  ip_country: z.string().nullable(),
  store: z.enum(['general', 'critical']),
  sandbox: z.boolean(),
  actor: z.object({ type: z.string().nullable(), id: z.string().nullable(), label: z.string().nullable(), photo: z.uuid().nullable() }),
  request_id: z.string().nullable(),
  user_agent: z.string().nullable(),
  sequence_number: z.string().nullable(),
}).meta({ id: 'AuditEntryView' });

const word = z.string().min(1).max(100);
const store = z.enum(['critical', 'general']);
const filters = {
  action: word.optional(),
  resource_type: word.optional(),
  resource_id: z.string().min(1).max(200).optional(),
  actor_id: z.string().min(1).max(200).optional(),
  from: isoTime().optional(),
  to: isoTime().optional(),
};

export const ListAuditLogs = z.object({ ...pageQuery, ...filters, chain: store.optional() });

export const AuditEvents = z.object({
  cursor: z.string().max(600).optional(),
  limit: queryInt(1, 1000).default(100),
  action: word.optional(),
  action_prefix: word.optional(),
  resource_type: word.optional(),
});

const dashboardFilters = {
  ...filters,
  action_prefix: word.optional(),
  ip: z.string().min(1).max(64).optional(),
  store: store.optional(),
  /** What one request did. */
  request_id: uuid().optional(),
  /** Part of the resource's or the actor's name. */
  q: z.string().trim().min(1).max(200).optional(),
};

/** Newest first; `before` is the `next` of the page before. */
export const BrowseAuditLogs = z.object({
  ...dashboardFilters,
  before: z
    .string()
    .regex(/^\d{1,15}-\d{1,19}$/, 'is not a valid cursor for this list. Start again without it')
    .optional(),
  limit: queryInt(1, 200).default(50),
});
export const BrowsedAuditLogs = z
  .object({ entries: z.array(AuditEntryView), next: z.string().nullable(), retention_days: z.number().nullable() })
  .meta({ id: 'BrowsedAuditLogs' });

export const AuditRef = z.object({ id: pathId() });
export const AuditEntryDetail = AuditEntryView.extend({ same_request: z.array(AuditEntryView) }).meta({ id: 'AuditEntryDetail' });

export const AuditFacetsQuery = z.object(dashboardFilters);
const facet = z.array(z.object({ value: z.string(), label: z.string().nullable(), count: z.number() }));
export const AuditFacets = z
  .object({ actions: facet, resource_types: facet, actors: facet, of_newest: z.number() })
  .meta({ id: 'AuditFacets', description: 'Counts over the newest matching entries, at most `of_newest`.' });

export const ExportAuditLogs = z.object({ ...dashboardFilters, format: z.enum(['csv', 'jsonl']).default('csv') });

const sequence = z
  .union([z.string(), z.number().transform(String)])
  .refine((v) => /^\d{1,18}$/.test(v), 'must be a sequence number')
  .transform(BigInt);

/** One row of the chain, hashes in lower-case hex (interface rule 31 §10.2). */
export const CriticalRow = z
  .object({
    sequence_number: z.string(),
    prev_hash: z.string(),
    row_hash: z.string(),
    at: time(),
    tenant_id: z.string().nullable(),
    actor_id: z.string().nullable(),
    action: z.string(),
    resource_type: z.string(),
    resource_id: z.string().nullable(),
    details,
    details_redacted: z.boolean().optional(),
  })
  .meta({ id: 'CriticalRow' });
const checkpoint = z.object({ sequence_number: z.string(), row_hash: z.string(), key_id: z.string(), created_at: time() });

/** How verification of a chain can fail. */
const CHAIN_FAILURES = [
  'hash_mismatch',
  'prev_mismatch',
  'gap',
  'mac_mismatch',
  'history_mismatch',
  'head_missing',
  'head_invalid',
  'rolled_back',
  'checkpoint_missing',
  'checkpoint_invalid',
  'foreign_entry',
  'keys_missing',
] as const;
export type ChainFailureKind = (typeof CHAIN_FAILURES)[number];
const failure = z.object({ sequence_number: z.string(), kind: z.enum(CHAIN_FAILURES) }).meta({ id: 'ChainFailure' });
const baseline = z
  .object({
    sequence_number: z.string(),
    action: z.enum(['audit_chain.seal', 'audit_chain.accept']),
    at: time(),
    reason: z.string().nullable(),
  })
  .meta({
    id: 'ChainBaseline',
    description:
      'The entry that seals all entries before it: written when the chain got its first sealed head, or when an operator accepted a failure.',
  });

export const BrowseCritical = z.object({
  after: sequence.optional(),
  limit: queryInt(1, 500).default(100),
  action: word.optional(),
  from: isoTime().optional(),
  to: isoTime().optional(),
});
export const BrowsedCritical = z
  .object({
    entries: z.array(CriticalRow),
    next_after: z.string().nullable(),
    head: z.object({ sequence_number: z.string(), row_hash: z.string() }).nullable(),
    checkpoint: checkpoint.nullable(),
    /** Kept until an operator accepts it. */
    failure: failure.nullable(),
  })
  .meta({ id: 'BrowsedCritical' });

export const VerifyCritical = z.object({ from: sequence.optional(), to: sequence.optional() });
export const CriticalVerdict = z
  .object({
    valid: z.boolean(),
    checked: z.number(),
    first: z.string().nullable(),
    last: z.string().nullable(),
    head_hash: z.string().nullable(),
    failure: failure.nullable(),
    baseline: baseline.nullable(),
  })
  .meta({ id: 'CriticalVerdict' });

import { z } from 'zod';
import { secret, uuid } from '#server/kernel/fields.ts';
import { grouped } from '#server/kernel/numbers.ts';

/** What can move between the spaces, in the order in which one may refer to the next. */
export const FAMILIES = ['environment', 'collection', 'secret', 'client', 'route'] as const;
export type Family = (typeof FAMILIES)[number];

/** So many things one call may name: a promotion is one transaction. */
export const MOST_ITEMS = 5_000;
/** And so many configurations their routes may have together, on either side. */
export const MOST_CONFIGURATIONS = 10_000;

const Item = z.object({ type: z.enum(FAMILIES), id: uuid() });
export type Item = z.output<typeof Item>;

const space = z.enum(['live', 'test']);

/** `items: "all"` names everything of the space it comes from. */
export const Promotion = z.object({
  items: z.union(
    [
      z.literal('all'),
      z
        .array(Item)
        .min(1, 'must name something')
        .max(MOST_ITEMS, `must have at most ${grouped(MOST_ITEMS)} entries`),
    ],
    {
      error: 'must be "all" or a list of {type, id}',
    },
  ),
  dry_run: z.boolean().default(false),
  /** Routes that exist there keep calling what they call. */
  keep_target_urls: z.boolean().default(false),
  /** Of the plan that was looked at: when it is no longer true, nothing is done. */
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be the fingerprint of a plan')
    .optional(),
});

const Change = z.object({
  field: z.string(),
  /** Null for what belongs to no single environment. */
  environment: z.string().nullable(),
  from: z.unknown(),
  to: z.unknown(),
  /** Routes: other environments that have the setting from the same place, and change alike. */
  also_in: z.array(z.string()).optional(),
});

const NeededValue = z.object({ secret: z.string(), environment: z.string() });

export const PlannedItem = z
  .object({
    type: z.enum(FAMILIES),
    source_id: z.uuid(),
    /** Null in a plan for what is not there yet. */
    target_id: z.uuid().nullable(),
    name: z.string(),
    slug: z.string().nullable(),
    /** False for what comes along because something picked refers to it. */
    picked: z.boolean(),
    action: z.enum(['create', 'update', 'skip', 'conflict']),
    /** Why it is skipped, cannot be done, or what to know about it. */
    reason: z.string().nullable(),
    /** Routes: whether it serves calls afterwards. */
    enabled: z.boolean().nullable(),
    changes: z.array(Change),
    /** Routes, and collections whose variables routes use: values that are missing there; calls would fail without them. */
    needs_values: z.array(NeededValue),
    /** Routes: the hosts they call. */
    upstreams: z.array(z.string()),
    /** What stays behind and has to be made there. */
    left_behind: z.array(z.string()),
  })
  .meta({ id: 'PlannedItem' });

export const SandboxPlan = z
  .object({
    /** Names the run in the audit log; null for a dry run and for one that had nothing to do. */
    id: z.uuid().nullable(),
    from: space,
    to: space,
    dry_run: z.boolean(),
    fingerprint: z.string(),
    summary: z.object({ create: z.int(), update: z.int(), skip: z.int(), conflict: z.int() }),
    items: z.array(PlannedItem),
    missing_values: z.array(
      z.object({
        secret: z.string(),
        /** There; null while it is not made yet. */
        secret_id: z.uuid().nullable(),
        environments: z.array(z.string()),
        routes: z.array(z.string()),
      }),
    ),
    limits: z.array(z.object({ kind: z.string(), limit: z.int(), used: z.int(), more: z.int(), fits: z.boolean() })),
  })
  .meta({ id: 'SandboxPlan' });
export type SandboxPlan = z.input<typeof SandboxPlan>;

export const ResetTest = z.object({
  /** The workspace's name, as typed by the person. */
  confirm_name: z.string().max(200),
  /** The person's current password, unless they signed in within the last ten minutes. */
  password: secret(z.string().min(1).max(1_000)).optional(),
});

export const TestWasReset = z
  .object({
    /** Rows of each kind that a plan limits. */
    deleted: z.record(z.string(), z.int()),
    starter: z.object({ route_id: z.uuid(), secret_id: z.uuid() }),
  })
  .meta({ id: 'TestWasReset' });

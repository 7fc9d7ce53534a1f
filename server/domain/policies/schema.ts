import { z } from 'zod';
import { CAPABILITIES, type Capability, KEY_ROLES, MEMBER_ROLES } from '#server/kernel/capabilities.ts';
import { atLeastOne, label, pathId, queryInt, text, time, uuid } from '#server/kernel/fields.ts';
import { SCOPE_NAMES } from '#server/kernel/scopes.ts';
import { isNarrowable } from './narrowing.shared.ts';

export const MAX_POLICIES = 200;
/** How far back a preview looks at most. */
export const PREVIEW_DAYS = 30;

const capability = () => z.enum(CAPABILITIES as unknown as [Capability, ...Capability[]], 'unknown capability');
/** Every `resource:*`. */
export const FAMILY_ACTIONS: readonly string[] = [...new Set(CAPABILITIES.map((one) => `${one.slice(0, one.indexOf(':'))}:*`))];
const ACTIONS = [...CAPABILITIES, ...FAMILY_ACTIONS] as [string, ...string[]];
export const PolicyAction = z.enum(ACTIONS, 'unknown action').meta({ id: 'PolicyAction' });

/** A member role, or the ID of a key role. */
export const SUBJECT_ROLES = [...MEMBER_ROLES, ...KEY_ROLES.map(({ id }) => id)] as [string, ...string[]];

/** What an edit may add up to. A list that rotations of keys made longer can be saved as it is. */
export const MAX_NAMED = 100;
const MAX_KEPT = 1_000;

const ids = () => z.array(uuid()).max(MAX_KEPT);
const subjects = {
  all: z.boolean().default(false),
  roles: z.array(z.enum(SUBJECT_ROLES, 'unknown role')).max(SUBJECT_ROLES.length).default([]),
  user_ids: ids().default([]),
  api_key_ids: ids().default([]),
  oauth_client_ids: ids().default([]),
};

export const PolicySubjects = z
  .strictObject(subjects)
  .refine(({ all, ...some }) => all || Object.values(some).some(({ length }) => length > 0), 'name at least one subject, or all')
  .refine(
    ({ all, ...some }) => !all || Object.values(some).every(({ length }) => length === 0),
    "all can't be combined with other subjects",
  );

const pattern = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters');

const editable = {
  name: label(100),
  actions: z.array(PolicyAction).min(1, 'must name at least one action').max(100),
  subjects: PolicySubjects,
  /** Absent or null: all resources. */
  resources: z.array(pattern).min(1, 'must name at least one resource; leave it out for all').max(MAX_KEPT).nullable(),
  space: z.enum(['live', 'test', 'both']),
  reason: text(500),
  enabled: z.boolean(),
};

/** A rule narrowed to resources says nothing about actions whose resources can't be named. */
const narrowsOnlyWhatItCan = ({ actions, resources }: { actions?: string[] | undefined; resources?: string[] | null | undefined }) =>
  !resources || !actions || actions.every(isNarrowable);
export const NOT_NARROWABLE =
  'can only narrow actions on routes, secrets, clients, environments, collections, crypto keys, vaults and API keys, and proxy:invoke';

const draft = {
  name: editable.name,
  actions: editable.actions,
  subjects: editable.subjects,
  resources: editable.resources.default(null),
  space: editable.space.default('both'),
  reason: editable.reason.default(null),
};

export const CreatePolicy = z
  .object({ ...draft, enabled: editable.enabled.default(true) })
  .refine(narrowsOnlyWhatItCan, { message: NOT_NARROWABLE, path: ['resources'] });
export const UpdatePolicy = atLeastOne(z.object({ id: pathId(), ...z.object(editable).partial().shape })).refine(narrowsOnlyWhatItCan, {
  message: NOT_NARROWABLE,
  path: ['resources'],
});
export const PolicyRef = z.object({ id: pathId() });

export const Policy = z
  .object({
    id: z.uuid(),
    name: z.string(),
    effect: z.literal('deny'),
    actions: z.array(z.string()),
    subjects: z.object({
      all: z.boolean(),
      roles: z.array(z.string()),
      user_ids: z.array(z.string()),
      api_key_ids: z.array(z.string()),
      oauth_client_ids: z.array(z.string()),
    }),
    resources: z.array(z.string()).nullable(),
    space: z.enum(['live', 'test', 'both']),
    reason: z.string().nullable(),
    enabled: z.boolean(),
    created_by: z.string().nullable(),
    created_at: time(),
    updated_at: time(),
    denied_calls: z.int(),
    last_denied_at: time().nullable(),
  })
  .meta({ id: 'Policy' });

/** Whom a policy denied what, latest first. */
export const PolicyDenial = z
  .object({
    capability: z.string(),
    actor_type: z.string(),
    actor_id: z.string().nullable(),
    actor: z.string(),
    space: z.enum(['live', 'test']),
    calls: z.int(),
    last_at: time(),
    last_request_id: z.uuid().nullable(),
  })
  .meta({ id: 'PolicyDenial' });

/** A policy as it would be saved. */
const Draft = z
  .strictObject({ ...draft, name: editable.name.default('This policy') })
  .refine(narrowsOnlyWhatItCan, { message: NOT_NARROWABLE, path: ['resources'] });

/** Whom to test as: exactly one. */
const TestedCaller = z
  .strictObject({
    user_id: uuid().optional(),
    role: z.enum(MEMBER_ROLES as unknown as [string, ...string[]]).optional(),
    api_key_id: uuid().optional(),
    /** An OAuth token with these scopes; `person_role` makes it one of a person. */
    scopes: z
      .array(z.enum(SCOPE_NAMES as [string, ...string[]], 'unknown scope'))
      .min(1)
      .max(100)
      .optional(),
    person_role: z.enum(MEMBER_ROLES as unknown as [string, ...string[]]).optional(),
    oauth_client_id: uuid().optional(),
  })
  .refine(
    ({ user_id, role, api_key_id, scopes }) => [user_id, role, api_key_id, scopes].filter((one) => one !== undefined).length === 1,
    'name exactly one of user_id, role, api_key_id and scopes',
  )
  .refine(
    ({ scopes, person_role, oauth_client_id }) => scopes !== undefined || (person_role === undefined && oauth_client_id === undefined),
    'person_role and oauth_client_id describe a token: name its scopes',
  );

export const TestPolicies = z
  .object({
    caller: TestedCaller,
    operation: z.string().max(100).optional(),
    capability: capability().optional(),
    /** ID or name of the object. */
    resource: z.string().trim().min(1).max(200).optional(),
    space: z.enum(['live', 'test']).default('live'),
    /** Also judges by this unsaved policy, in place of the saved one `draft_of` if given. */
    draft: Draft.optional(),
    draft_of: uuid().optional(),
  })
  .refine(({ operation, capability: one }) => (operation === undefined) !== (one === undefined), {
    message: 'send either operation or capability',
    path: ['body'],
  });

export const DECIDING_LAYERS = ['missing_capability', 'literal_only', 'person_forbidden', 'policy'] as const;

export const PolicyTest = z
  .object({
    allowed: z.boolean(),
    /** What decided: null when the call is allowed. */
    layer: z.enum(DECIDING_LAYERS).nullable(),
    message: z.string(),
    checks: z.array(
      z.object({
        capability: z.string(),
        /** How the caller holds it: always, only for what it created, or only in a reveal after a verification. */
        held: z.enum(['yes', 'own', 'reveal', 'no']),
        roles: z.array(z.string()),
        layer: z.enum(DECIDING_LAYERS).nullable(),
        /** The policy that denies it; its ID is null for the draft. */
        policy: z.object({ id: z.uuid().nullable(), name: z.string() }).nullable(),
      }),
    ),
  })
  .meta({ id: 'PolicyTest' });

export const PreviewPolicy = z.object({ draft: Draft, days: queryInt(1, PREVIEW_DAYS).default(7) });

export const PolicyPreview = z
  .object({
    /** People and keys that would lose something they have now. */
    people: z.array(z.object({ user_id: z.uuid(), name: z.string(), role: z.string(), loses: z.array(z.string()) })),
    keys: z.array(z.object({ id: z.uuid(), name: z.string(), space: z.enum(['live', 'test']), loses: z.array(z.string()) })),
    /** Calls through routes of the last days that would have been denied. */
    calls: z.object({
      days: z.int(),
      total: z.int(),
      by_key: z.array(z.object({ api_key_id: z.uuid(), name: z.string(), space: z.enum(['live', 'test']), calls: z.int() })),
    }),
    /** Calls of the Management API: when a key last used what it would lose. */
    uses: z.array(z.object({ api_key_id: z.uuid(), name: z.string(), capability: z.string(), last_used_at: time() })),
    /** Saving it is refused: no Owner could change policies any more. */
    locks_out_owners: z.boolean(),
  })
  .meta({ id: 'PolicyPreview' });

/** Whom policies can name: the people of the workspace and the API keys of both its spaces. */
export const PolicyCandidates = z
  .object({
    people: z.array(z.object({ id: z.uuid(), name: z.string(), role: z.string() })),
    keys: z.array(z.object({ id: z.uuid(), name: z.string(), space: z.enum(['live', 'test']) })),
    oauth_clients: z.array(z.object({ id: z.uuid(), name: z.string(), space: z.enum(['live', 'test']) })),
  })
  .meta({ id: 'PolicyCandidates' });

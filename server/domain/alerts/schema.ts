import { z } from 'zod';
import { atLeastOne, isoTime, label, pathId, text, time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';
import { ALERT_STATES, ALERT_TYPES, INCIDENT_STATES, SEVERITIES } from './conditions.shared.ts';

/** The members of all types; the service says which belong to which (conditions.shared.ts). */
export const ConditionInput = z.strictObject({
  threshold: z.int().min(1).max(1_000_000).optional(),
  window_minutes: z.int().min(1).max(1_440).optional(),
  include_status_codes: z.int().min(400).max(599).array().min(1).max(50).optional(),
  threshold_ms: z.int().min(1).max(120_000).optional(),
  percentile: z.literal([50, 95, 99]).optional(),
  min_requests: z.int().min(1).max(1_000_000).optional(),
  percent: z.int().min(1).max(100).optional(),
  days: z.int().min(1).max(365).optional(),
  minutes: z.int().min(1).max(1_440).optional(),
  action_prefix: z
    .string()
    .max(100)
    .regex(/^[a-z0-9_.]*$/, 'must be the beginning of an action, such as plaintext')
    .optional(),
  resource_type: z
    .string()
    .max(100)
    .regex(/^[a-z0-9_]*$/, 'must be a type of resource, such as secret')
    .optional(),
});
const Condition = z
  .object({
    threshold: z.int().optional(),
    window_minutes: z.int().optional(),
    include_status_codes: z.int().array().optional(),
    threshold_ms: z.int().optional(),
    percentile: z.int().optional(),
    min_requests: z.int().optional(),
    percent: z.int().optional(),
    days: z.int().optional(),
    minutes: z.int().optional(),
    action_prefix: z.string().optional(),
    resource_type: z.string().optional(),
  })
  .meta({ id: 'AlertCondition' });

/** `route_ids` and `environments` narrow the types that count calls; empty for all. */
const scope = {
  route_ids: uuid()
    .array()
    .max(200)
    .transform((ids) => [...new Set(ids)]),
  environments: z
    .string()
    .min(1)
    .max(63)
    .array()
    .max(50)
    .transform((names) => [...new Set(names)]),
};
const fields = {
  name: label(100),
  condition: ConditionInput,
  ...scope,
  severity: z.enum(SEVERITIES),
  cooldown_minutes: z.int().min(1).max(10_080),
  channel_ids: uuid()
    .array()
    .max(20)
    .transform((ids) => [...new Set(ids)]),
  enabled: z.boolean(),
};

export const Alert = z
  .object({
    id: z.uuid(),
    name: z.string(),
    type: z.enum(ALERT_TYPES),
    condition: Condition,
    route_ids: z.uuid().array(),
    environments: z.string().array(),
    severity: z.enum(SEVERITIES),
    cooldown_minutes: z.int(),
    channel_ids: z.uuid().array(),
    enabled: z.boolean(),
    muted_until: time().nullable(),
    state: z.enum(ALERT_STATES),
    /** Incidents that are open now. */
    open_incidents: z.int(),
    last_fired_at: time().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'Alert' });

export const CreateAlert = z.object({
  name: fields.name,
  type: z.enum(ALERT_TYPES),
  condition: fields.condition.default({}),
  route_ids: fields.route_ids.default([]),
  environments: fields.environments.default([]),
  severity: fields.severity.default('high'),
  cooldown_minutes: fields.cooldown_minutes.default(15),
  channel_ids: fields.channel_ids.default([]),
  enabled: fields.enabled.default(true),
});
export const UpdateAlert = atLeastOne(z.object({ id: pathId(), ...z.object(fields).partial().shape }));
export const AlertRef = z.object({ id: pathId() });
/** `until` at most 30 days ahead; null ends it. */
export const MuteAlert = z.object({ id: pathId(), until: isoTime().nullable() });

/** An alert that is not saved yet, to see what it would have done. */
export const PreviewInput = z.object({
  type: z.enum(ALERT_TYPES),
  condition: fields.condition.default({}),
  route_ids: fields.route_ids.default([]),
  environments: fields.environments.default([]),
});
export const Preview = z
  .object({
    /** Whether the past can be worked out for the type; if not, `fired` is null and only `holds_now` says something. */
    supported: z.boolean(),
    /** How many incidents the last seven days would have had. */
    fired: z.int().nullable(),
    from: time(),
    to: time(),
    threshold: z.number(),
    unit: z.string(),
    incidents: z
      .object({
        subject: z.string().nullable(),
        route_id: z.uuid().nullable(),
        started_at: time(),
        resolved_at: time().nullable(),
        peak: z.number(),
      })
      .array(),
    /** The highest value of each step (of no_traffic the lowest); null where there was nothing to measure. */
    points: z.object({ at: time(), value: z.number().nullable() }).array(),
    step_minutes: z.int(),
    holds_now: z.object({ subject: z.string().nullable(), value: z.number() }).array(),
  })
  .meta({ id: 'AlertPreview' });

/** The last hour of an alert, a value a minute, for a line in the list. */
export const Sparkline = z
  .object({ alert_id: z.uuid(), threshold: z.number(), from: time(), values: z.number().nullable().array() })
  .meta({ id: 'AlertSparkline' });

// --- incidents ---------------------------------------------------------------------------------------------------------------------

export const ENTRY_KINDS = ['opened', 'message', 'acknowledged', 'note', 'resolved'] as const;
export const MESSAGE_KINDS = ['opened', 'reminder', 'resolved'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

const incident = {
  id: z.uuid(),
  alert_id: z.uuid(),
  alert_name: z.string(),
  type: z.enum(ALERT_TYPES),
  severity: z.enum(SEVERITIES),
  subject: z.string().nullable(),
  route_id: z.uuid().nullable(),
  state: z.enum(INCIDENT_STATES),
  started_at: time(),
  resolved_at: time().nullable(),
  value: z.number(),
  peak: z.number(),
  threshold: z.number(),
  unit: z.string(),
  messages: z.int(),
  acknowledged_at: time().nullable(),
  acknowledged_by: z.string().nullable(),
};
export const Incident = z.object(incident).meta({ id: 'AlertIncident' });

export const IncidentDetail = z
  .object({
    ...incident,
    /** The condition of its alert in words, as it is now. */
    condition: z.string(),
    sample_request_ids: z.uuid().array(),
    timeline: z
      .object({
        id: z.uuid(),
        at: time(),
        kind: z.enum(ENTRY_KINDS),
        actor: z.string().nullable(),
        text: z.string().nullable(),
        message: z.enum(MESSAGE_KINDS).nullable(),
        deliveries: z
          .object({
            channel_id: z.uuid(),
            channel: z.string().nullable(),
            kind: z.string().nullable(),
            state: z.enum(['pending', 'in_flight', 'succeeded', 'exhausted', 'dropped']),
            attempts: z.int(),
            last_status: z.int().nullable(),
            last_error: z.string().nullable(),
            finished_at: time().nullable(),
          })
          .array(),
      })
      .array(),
    /** Changes in the half hour before it opened, newest first. */
    changes: z
      .object({
        id: z.uuid(),
        at: time(),
        action: z.string(),
        resource_type: z.string(),
        resource_id: z.string().nullable(),
        name: z.string().nullable(),
        actor: z.string().nullable(),
      })
      .array(),
  })
  .meta({ id: 'AlertIncidentDetail' });

export const ListIncidents = z.object({
  ...pageQuery,
  state: z.enum(INCIDENT_STATES).optional(),
  alert_id: uuid().optional(),
});
export const IncidentRef = z.object({ id: pathId() });
export const NoteIncident = z.object({ id: pathId(), text: text(2_000).unwrap().trim().min(1) });

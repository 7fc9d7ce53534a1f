import { z } from 'zod';
import { atLeastOne, label, pathId, secret, time } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';
import { CHANNEL_KINDS } from './kinds.shared.ts';

const CLOCK = /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/;
const clock = () => z.string().regex(CLOCK, 'must be a time such as 22:00');

/** Messages that come up from `from` until `to` wait until it is `to`, every day in the timezone. */
export const QuietHours = z
  .strictObject({
    from: clock(),
    to: clock(),
    timezone: z.string().min(1).max(64).refine(isTimezone, 'must be a timezone such as Europe/Berlin'),
    /** Whether incidents of severity critical are told all the same. */
    except_critical: z.boolean().default(true),
  })
  .meta({ id: 'QuietHours' });
export type QuietHoursValue = z.output<typeof QuietHours>;

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const VISIBLE = /^[\x21-\x7e]*$/;
const settings = {
  name: label(100),
  /** email: addresses. sms: numbers such as +14155550100. */
  recipients: z.string().trim().min(1).max(254).array().min(1).max(20),
  /** slack, teams, discord, webhook: where messages are posted. pagerduty, opsgenie: another region of theirs. */
  url: secret(z.string().trim().min(1).max(2_048)),
  /** pagerduty: the routing key. opsgenie: the API key. */
  token: secret(z.string().min(1).max(500).regex(VISIBLE, 'must be one word')),
  /** webhook: what requests are signed with, as deliveries of webhooks are. */
  signing_secret: secret(z.string().min(24).max(256)),
  quiet_hours: QuietHours.nullable(),
  enabled: z.boolean(),
};
const { name, enabled, quiet_hours, ...byKind } = settings;

/** Where alerts are told. What it sends to is never shown again but for the host. */
export const AlertChannel = z
  .object({
    id: z.uuid(),
    name: z.string(),
    kind: z.enum(CHANNEL_KINDS),
    host: z.string().nullable(),
    recipients: z.string().array(),
    quiet_hours: QuietHours.nullable(),
    enabled: z.boolean(),
    /** Alerts that name it. */
    alerts: z.int(),
    last_sent_at: time().nullable(),
    last_failed_at: time().nullable(),
    last_error: z.string().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'AlertChannel' });

export const CreateAlertChannel = z.object({
  name,
  kind: z.enum(CHANNEL_KINDS),
  ...z.object(byKind).partial().shape,
  quiet_hours: quiet_hours.default(null),
  enabled: enabled.default(true),
});
export const UpdateAlertChannel = atLeastOne(z.object({ id: pathId(), ...z.object(settings).partial().shape }));
export const AlertChannelRef = z.object({ id: pathId() });

export const ListChannelDeliveries = z.object({ id: pathId(), ...pageQuery });
/** One message on its way to a channel. */
export const ChannelDelivery = z
  .object({
    id: z.uuid(),
    message_id: z.uuid(),
    incident_id: z.uuid().nullable(),
    state: z.enum(['pending', 'in_flight', 'succeeded', 'exhausted', 'dropped']),
    attempts: z.int(),
    last_status: z.int().nullable(),
    last_error: z.string().nullable(),
    next_attempt_at: time().nullable(),
    created_at: time(),
    finished_at: time().nullable(),
  })
  .meta({ id: 'AlertChannelDelivery' });

/** How one channel took a message that says it is a test. */
export const ChannelTrial = z
  .object({
    channel_id: z.uuid(),
    name: z.string(),
    ok: z.boolean(),
    status: z.int().nullable(),
    latency_ms: z.int(),
    error: z.string().nullable(),
  })
  .meta({ id: 'AlertChannelTest' });

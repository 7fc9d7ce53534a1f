import { z } from 'zod';
import { atLeastOne, flag, time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';
import { DIGESTS, FOLLOWABLE, MOST_RESOURCES, NOTIFICATION_KINDS, PLACES, SEVERITIES } from './kinds.shared.ts';

const kind = () => z.enum(NOTIFICATION_KINDS);

/** One thing that a person is told. */
export const Notification = z
  .object({
    id: z.uuid(),
    kind: kind(),
    severity: z.enum(SEVERITIES),
    title: z.string(),
    body: z.string(),
    /** Below the workspace: `/live/webhooks/…`. */
    link: z.string().nullable(),
    space: z.enum(PLACES),
    group: z.string(),
    resource_type: z.string().nullable(),
    resource_id: z.string().nullable(),
    created_at: time(),
    read_at: time().nullable(),
  })
  .meta({ id: 'Notification' });

export const ListNotifications = z.object({ ...pageQuery, kind: kind().optional(), unread: flag().optional() });

export const UnreadCount = z.object({ unread: z.number().int(), newest: z.uuid().nullable() });

/** Some by their IDs, or all up to a moment: what came in while the list was on the screen stays unread. */
export const MarkRead = z
  .object({ ids: z.array(uuid()).min(1).max(100).optional(), until: z.iso.datetime({ offset: true }).optional() })
  .refine((v) => (v.ids === undefined) !== (v.until === undefined), { message: 'send either ids or until', path: ['body'] });
export const Marked = z.object({ read: z.number().int() });

const clock = () => z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00');
const zone = () => z.string().max(60).refine(isZone, 'must be an IANA time zone such as Europe/Berlin');

export const QuietHours = z
  .object({ from: clock(), until: clock(), timezone: zone() })
  .refine(({ from, until }) => from !== until, { message: 'must end at another time than it begins', path: ['until'] });

const channels = () => z.object({ in_app: z.boolean(), email: z.boolean() });
const perKind = <T extends z.ZodType>(value: T) =>
  z.object({ security: value, operations: value, expiry: value, team: value, billing: value, product: value });

export const FollowedResource = z.object({ resource_type: z.enum(FOLLOWABLE), resource_id: uuid(), mode: z.enum(['follow', 'mute']) });

export const NotificationPreferences = z
  .object({
    channels: perKind(channels()),
    digest: z.enum(DIGESTS),
    quiet_hours: QuietHours.nullable(),
    resources: z.array(FollowedResource),
    /** Kinds that the person can't turn off. */
    locked: z.array(kind()),
  })
  .meta({ id: 'NotificationPreferences' });

export const UpdatePreferences = atLeastOne(
  z.object({
    channels: perKind(channels()).partial().optional(),
    digest: z.enum(DIGESTS).optional(),
    quiet_hours: QuietHours.nullable().optional(),
  }),
);

/** `default` takes a resource off the list again. */
export const FollowResource = z.object({
  resource_type: z.enum(FOLLOWABLE),
  resource_id: uuid(),
  mode: z.enum(['follow', 'mute', 'default']),
});

export { MOST_RESOURCES };

/** Whether the runtime knows a time zone by this name. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

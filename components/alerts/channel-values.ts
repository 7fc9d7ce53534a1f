import { z } from 'zod';
import { CHANNEL_KINDS, type ChannelField, type ChannelKind, KIND_FIELDS } from '#server/domain/alert-channels/kinds.shared.ts';
import { listOf } from './alert-values.ts';
import type { ChannelRow } from './labels.ts';

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const FIELDS: readonly ChannelField[] = ['recipients', 'url', 'token', 'signing_secret'];

/** What the form of a channel holds. A channel that exists may leave what it keeps in secret empty. */
export const channelValues = (isNew: boolean) =>
  z
    .object({
      name: z.string().trim().min(1, 'is required').max(100),
      kind: z.enum(CHANNEL_KINDS),
      recipients: z.string().max(5_000),
      url: z.string().trim().max(2_048),
      token: z.string().max(500),
      signing_secret: z.string().max(256),
      quiet: z.boolean(),
      quiet_from: z.string(),
      quiet_to: z.string(),
      timezone: z.string().trim().max(64),
      except_critical: z.boolean(),
      enabled: z.boolean(),
    })
    .superRefine((values, ctx) => {
      for (const field of KIND_FIELDS[values.kind].needs)
        if (values[field].trim() === '' && (isNew || field === 'recipients'))
          ctx.addIssue({ code: 'custom', path: [field], message: 'is required' });
      if (!values.quiet) return;
      for (const field of ['quiet_from', 'quiet_to'] as const)
        if (!CLOCK.test(values[field])) ctx.addIssue({ code: 'custom', path: [field], message: 'must be a time such as 22:00' });
    });
export type ChannelValues = z.output<ReturnType<typeof channelValues>>;

export const newChannel = (timezone: string): ChannelValues => ({
  ...{ name: '', kind: 'email', recipients: '', url: '', token: '', signing_secret: '', enabled: true },
  ...{ quiet: false, quiet_from: '22:00', quiet_to: '07:00', timezone, except_critical: true },
});

export const valuesOf = (row: ChannelRow, timezone: string): ChannelValues => ({
  ...newChannel(timezone),
  ...{ name: row.name, kind: row.kind, recipients: row.recipients.join(', '), enabled: row.enabled, quiet: row.quiet_hours !== null },
  ...(row.quiet_hours
    ? {
        ...{ quiet_from: row.quiet_hours.from, quiet_to: row.quiet_hours.to },
        ...{ timezone: row.quiet_hours.timezone, except_critical: row.quiet_hours.except_critical },
      }
    : {}),
});

/** The members of a call: what the kind takes, and of secrets only what was typed. */
export function inputOf(values: ChannelValues) {
  const given = FIELDS.filter((field) => takes(values.kind, field) && values[field].trim() !== '');
  return {
    ...{ name: values.name, enabled: values.enabled },
    ...Object.fromEntries(
      given.map((field) => [field, field === 'recipients' ? listOf(values.recipients.replaceAll('\n', ',')) : values[field].trim()]),
    ),
    quiet_hours: values.quiet
      ? { from: values.quiet_from, to: values.quiet_to, timezone: values.timezone, except_critical: values.except_critical }
      : null,
  } as {
    name: string;
    enabled: boolean;
    recipients?: string[];
    url?: string;
    token?: string;
    signing_secret?: string;
    quiet_hours: { from: string; to: string; timezone: string; except_critical: boolean } | null;
  };
}

export const takes = (kind: ChannelKind, field: ChannelField): boolean => KIND_FIELDS[kind].takes.includes(field);
export const needs = (kind: ChannelKind, field: ChannelField): boolean => KIND_FIELDS[kind].needs.includes(field);

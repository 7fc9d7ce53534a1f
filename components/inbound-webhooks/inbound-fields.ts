import { z } from 'zod';
import { FORMATS, REPEATABLE, TIMED } from '#server/domain/inbound-webhooks/formats.shared.ts';
import type { InboundRow } from './inbound-labels.ts';

export const TARGETS = ['url', 'route', 'none'] as const;

/** What the form of a receiver holds: texts, of which only what the format and the target need is sent. */
export const InboundFields = z.object({
  name: z
    .string()
    .trim()
    .min(1, 'is required')
    .max(63)
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lower-case letters, digits and hyphens'),
  description: z.string().max(1_000),
  format: z.enum(FORMATS),
  header_name: z.string().trim().max(64),
  secret: z.string().max(512),
  replay_window_seconds: z.string().regex(/^[0-9]{1,5}$/, 'must be a whole number of seconds'),
  allow_duplicates: z.boolean(),
  target: z.enum(TARGETS),
  forward_url: z.string().trim().max(2_048),
  forward_route_id: z.string(),
  enabled: z.boolean(),
});
export type InboundFields = z.output<typeof InboundFields>;

export const EMPTY: InboundFields = {
  ...{ name: '', description: '', format: 'stripe', header_name: '', secret: '', replay_window_seconds: '300', allow_duplicates: false },
  ...{ target: 'url', forward_url: '', forward_route_id: '', enabled: true },
};

export const valuesOf = (row: InboundRow): InboundFields => ({
  ...{ name: row.name, description: row.description ?? '', format: row.format, header_name: row.header_name ?? '', secret: '' },
  replay_window_seconds: String(row.replay_window_seconds ?? 300),
  allow_duplicates: row.allow_duplicates ?? false,
  target: row.forward_route_id === null ? (row.forward_url === null ? 'none' : 'url') : 'route',
  ...{ forward_url: row.forward_url ?? '', forward_route_id: row.forward_route_id ?? '', enabled: row.enabled },
});

/** The members of a call; `secret` is that of making one, and goes separately. */
export function inputOf(values: InboundFields) {
  const { name, description, format, header_name, target, enabled } = values;
  return {
    ...{ name, format, enabled },
    description: description.trim() === '' ? null : description,
    header_name: format === 'custom' ? header_name : null,
    ...(TIMED.has(format) ? { replay_window_seconds: Number(values.replay_window_seconds) } : {}),
    ...(REPEATABLE.has(format) ? { allow_duplicates: values.allow_duplicates } : {}),
    forward_url: target === 'url' && values.forward_url !== '' ? values.forward_url : null,
    forward_route_id: target === 'route' && values.forward_route_id !== '' ? values.forward_route_id : null,
  };
}

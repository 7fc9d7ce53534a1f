import { z } from 'zod';
import { atLeastOne, flag, label, pathId, secret, shownOnce, text, time, uuid } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { FORMATS, MOST_WINDOW_SECONDS } from './formats.shared.ts';

const count = () =>
  z
    .union([z.bigint().transform(Number), z.number()])
    .pipe(z.number())
    .meta({ type: 'integer' });

/** A receiver. Its secret is never among the fields. */
export const InboundWebhook = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    /** Where the sender posts to. */
    url: z.string(),
    format: z.enum(FORMATS),
    header_name: z.string().nullable(),
    /** Null for a format that signs no timestamp. */
    replay_window_seconds: z.int().nullable(),
    /** Null for a format whose senders sign each try anew. */
    allow_duplicates: z.boolean().nullable(),
    forward_url: z.string().nullable(),
    forward_route_id: z.uuid().nullable(),
    enabled: z.boolean(),
    verified_count: count(),
    refused_count: count(),
    undelivered_count: count(),
    last_verified_at: time().nullable(),
    last_refused_at: time().nullable(),
    last_error: z.string().nullable(),
    secret_changed_at: time(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'InboundWebhook' });

/** `secret_key` is there when the service made the secret, and only once. */
export const CreatedInboundWebhook = InboundWebhook.extend({ secret_key: shownOnce(z.string().nullable()) }).meta({
  id: 'CreatedInboundWebhook',
});
export const RotatedInboundWebhook = z
  .object({ id: z.uuid(), secret_key: shownOnce(z.string().nullable()), secret_changed_at: time() })
  .meta({ id: 'RotatedInboundWebhook' });

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Fields of the message itself, which a sender can't put a signature into. */
const TAKEN = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'cookie',
  'x-request-id',
]);

const sharedSecret = () =>
  secret(
    z
      .string()
      .min(8)
      .max(512)
      .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
  );

const settings = {
  name: label(63).regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lower-case letters, digits and hyphens'),
  description: text(1_000),
  format: z.enum(FORMATS),
  header_name: z
    .string()
    .regex(TOKEN, 'must be a header name of at most 64 characters')
    .refine(
      (name) => !TAKEN.has(name.toLowerCase()) && !/^(?:x-svc-|x-forwarded-|proxy-)/i.test(name),
      'is a header that no sender signs in',
    )
    .nullable(),
  replay_window_seconds: z.int().min(1).max(MOST_WINDOW_SECONDS),
  allow_duplicates: z.boolean(),
  forward_url: z
    .string()
    .trim()
    .min(1)
    .max(2_048)
    .nullable()
    .meta({ format: 'uri', examples: ['https://app.example.com/hooks/stripe'] }),
  forward_route_id: uuid().nullable(),
  enabled: z.boolean(),
};
const { name, format, enabled, ...others } = settings;

export const CreateInboundWebhook = z.object({
  name,
  format,
  /** Without it the service makes one. */
  secret: sharedSecret().optional(),
  ...z.object(others).partial().shape,
  enabled: enabled.default(true),
});
export const UpdateInboundWebhook = atLeastOne(z.object({ id: pathId(), ...z.object(settings).partial().shape }));
export const InboundWebhookRef = z.object({ id: pathId() });
export const RotateInboundSecret = z.object({ id: pathId(), secret: sharedSecret().optional() });

export const ListInboundWebhooks = listQuery({
  sorts: ['created_at', 'name'],
  sort: 'created_at',
  order: 'desc',
  filters: { q: z.string().max(100).optional(), enabled: flag().optional() },
});

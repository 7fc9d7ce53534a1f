import { z } from 'zod';
import { label } from '#server/kernel/fields.ts';

// What agents send (interface rule 63 §5).

const fingerprint = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal characters');
const version = label(64);
const seal = z.string().max(128);
const host = { os: label(32), arch: label(32), hostname: label(255) };

export const Enrol = z.object({
  token: z.string().max(100),
  machine_fingerprint: fingerprint,
  version,
  build_sig: seal.default(''),
  ...host,
});
export const OpenSession = z.object({
  machine_fingerprint: fingerprint,
  version,
  build_sig: seal.default(''),
  mode: z.string().max(16),
  have_etag: z.string().max(128).nullish(),
  ...z.object(host).partial().shape,
});

const count = z.int().min(0).max(2_147_483_647);
export const Heartbeat = z.object({
  uptime_s: count,
  version,
  mode: z.string().max(16),
  counters: z.object({ requests: count, errors: count, intercepted: count, passed: count }),
  p95_ms: count.nullish(),
  mem_mb: count.nullish(),
  cpu: z.number().min(0).max(100_000).nullish(),
  last_error: z.string().max(500).nullish(),
  listeners: z
    .object({ port: z.int().min(1).max(65_535), protocol: z.string().max(16), open: z.boolean() })
    .array()
    .max(100)
    .default([]),
});

export const CommandResult = z.object({ ok: z.boolean(), output: z.unknown().optional(), error: z.string().max(500).nullish() });
export const ReportTamper = z.object({ kind: z.literal('bad_bundle'), detail: z.string().max(500).nullish() });

const clean = (max: number) => z.string().max(max);
export const ReportLogs = z.object({
  rows: z
    .object({
      at: z.iso.datetime({ offset: true }).transform((at) => new Date(at)),
      method: z.string().regex(/^[A-Z]{1,16}$/),
      host: clean(255).nullish(),
      path: clean(2_048),
      status: z.int().min(100).max(599),
      duration_ms: count,
      route_id: z.uuid().nullish(),
      environment: clean(63).nullish(),
      error: z
        .string()
        .regex(/^[a-z_]{1,64}$/)
        .nullish(),
      request_bytes: count.nullish(),
      response_bytes: count.nullish(),
    })
    .array()
    .max(500),
});

const base64 = z
  .string()
  .max(120_000)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64');
export const CaptureReport = z.object({
  id: z.string(),
  window: z.string().max(16),
  items: z
    .object({
      source_ref: z.string().min(1).max(2_048),
      source_version: z.string().max(255).default(''),
      provider_host: z.string().max(255),
      kind: z.string().max(32).optional(),
      value: z.object({ nonce: base64, ciphertext: base64 }),
      process: z.object({ name: z.string().max(255), uid: z.int().min(0).max(4_294_967_295) }).nullish(),
      observed_at: z.iso.datetime({ offset: true }).nullish(),
    })
    .array()
    .min(1)
    .max(50),
});

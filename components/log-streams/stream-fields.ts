import { z } from 'zod';
import { STREAM_KINDS, STREAM_SOURCES } from '#server/domain/log-streams/schema.ts';
import type { StreamRow } from './stream-labels.ts';

/** What the form of a stream holds: texts, of which only the kind's own are sent. */
export const StreamFields = z.object({
  name: z.string().trim().min(1, 'is required').max(100),
  source: z.enum(STREAM_SOURCES),
  kind: z.enum(STREAM_KINDS),
  endpoint: z.string().trim().min(1, 'is required').max(2048),
  headers: z
    .string()
    .max(20_000)
    .refine((text) => headerLines(text).every((line) => line.includes(':')), 'must have lines such as Authorization: Bearer abc'),
  token: z.string().max(1000),
  region: z.string().trim().max(40),
  prefix: z.string().trim().max(800),
  access_key_id: z.string().trim().max(128),
  secret_access_key: z.string().max(200),
  enabled: z.boolean(),
});
export type StreamFields = z.output<typeof StreamFields>;

const headerLines = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

const headersOf = (text: string) =>
  Object.fromEntries(
    headerLines(text).map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );

/** Empty credentials of a stream that exists stay what they are. */
export const valuesOf = (row: StreamRow): StreamFields => ({
  ...{ name: row.name, source: row.source, kind: row.kind, endpoint: row.endpoint, enabled: row.enabled },
  ...{ headers: '', token: '', secret_access_key: '' },
  ...{ region: row.region ?? '', prefix: row.prefix ?? '', access_key_id: row.access_key_id ?? '' },
});

/** The members of a call: what belongs to the kind, and of what may stay empty only what was typed. */
export function inputOf({ kind, source: _, ...fields }: StreamFields) {
  const { name, endpoint, enabled, headers, token, region, prefix, access_key_id, secret_access_key } = fields;
  const common = { name, endpoint, enabled };
  const typed = <T extends Record<string, string>>(values: T): Partial<T> =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Partial<T>;
  if (kind === 'https' || kind === 'otlp') return { ...common, ...(headers.trim() === '' ? {} : { headers: headersOf(headers) }) };
  if (kind === 's3') return { ...common, prefix, ...typed({ region, access_key_id, secret_access_key }) };
  return { ...common, ...typed({ token }) };
}

import { z } from 'zod';
import { label, pathId, time } from '#server/kernel/fields.ts';
import { METHODS } from '../config/schema.ts';
import { MOST_ASSERTIONS } from './assertions.shared.ts';

const short = () => z.string().trim().min(1).max(200);
const Assertion = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('status'), equals: z.number().int().min(100).max(599) }),
  z.object({ kind: z.literal('time'), at_most_ms: z.number().int().min(1).max(600_000) }),
  z.object({ kind: z.literal('header'), name: short(), contains: z.string().max(500) }),
  z.object({ kind: z.literal('body'), contains: z.string().min(1).max(500) }),
  z.object({ kind: z.literal('json'), path: short(), equals: z.string().max(500) }),
]);

/** Kept values are read by everybody who may test the route: no credential belongs in them, and none is taken. */
const request = {
  name: label(100),
  method: z.enum(METHODS),
  path: z.string().max(4096).regex(/^\//, 'must start with /'),
  headers: z.array(z.object({ name: z.string().trim().min(1).max(256), value: z.string().max(8192) })).max(50),
  body: z.string().max(64 * 1024, 'must be at most 64 KiB'),
  assertions: z.array(Assertion).max(MOST_ASSERTIONS),
};

export const RouteExample = z
  .object({ id: z.uuid(), ...request, name: z.string(), created_at: time(), updated_at: time() })
  .meta({ id: 'RouteExample' });
export const ExamplesOf = z.object({ id: pathId() });
export const SaveExample = z.object({ id: pathId(), ...request });
export const ReplaceExample = z.object({ id: pathId(), exampleId: pathId(), ...request });
export const ExampleRef = z.object({ id: pathId(), exampleId: pathId() });

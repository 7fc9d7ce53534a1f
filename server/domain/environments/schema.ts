import { z } from 'zod';
import { atLeastOne, color, label, pathId, text, time } from '#server/kernel/fields.ts';

/** A deployment stage such as production or staging (interface rule 11 §6). */
export const Environment = z
  .object({
    id: z.uuid(),
    name: z.string(),
    display_name: z.string(),
    description: z.string().nullable(),
    color: z.string(),
    is_default: z.boolean(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'Environment' });

/** POST and PATCH answer the whole record. */
export const EnvironmentRecord = Environment.extend({ tenant_id: z.uuid(), sandbox: z.boolean() }).meta({ id: 'EnvironmentRecord' });

/** Also in references to an environment. */
export const environmentName = () =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9_-]+$/, 'can only contain lowercase letters, digits, _ and -')
    .meta({ examples: ['production'] });

const editable = {
  name: environmentName(),
  display_name: label(100),
  description: text(500),
  color: color(),
  is_default: z.boolean(),
};

export const CreateEnvironment = z.object(editable).partial().required({ name: true });
export const UpdateEnvironment = atLeastOne(z.object({ id: pathId(), ...z.object(editable).partial().shape }));
export const EnvironmentRef = z.object({ id: pathId() });

/** A copy takes description and colour along unless others are given; it is never the default. */
export const DuplicateEnvironment = z
  .object({ id: pathId(), include_clients: z.boolean().default(false), ...z.object(editable).omit({ is_default: true }).partial().shape })
  .required({ name: true });
export const DuplicatedEnvironment = EnvironmentRecord.extend({
  /** Routes that serve the new environment, and clients assigned in it. */
  copied: z.object({ routes: z.int(), assignments: z.int() }),
}).meta({ id: 'DuplicatedEnvironment' });

/** What uses an environment; `overrides` are the routes with a setting of their own there. */
const uses = { routes: z.int(), overrides: z.int(), secrets: z.int(), clients: z.int() };
export const EnvironmentUsage = z.object({ id: z.uuid(), ...uses }).meta({ id: 'EnvironmentUsage' });
const some = z.array(z.object({ id: z.uuid(), name: z.string() }));
export const EnvironmentImpact = z
  .object({
    ...uses,
    /** The first of each by name. */
    some_routes: some,
    some_secrets: some,
    some_clients: some,
  })
  .meta({ id: 'EnvironmentImpact' });

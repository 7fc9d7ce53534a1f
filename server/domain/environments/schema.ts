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

export const environmentName = () =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9_-]+$/, 'may hold lower-case letters, digits, _ and - only');

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

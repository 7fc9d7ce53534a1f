import { z } from 'zod';
import { atLeastOne, pathId, text, time, uuid } from '#server/kernel/fields.ts';

/** A collection variable: plain text, or the name of a secret that resolves per environment (interface rule 30 §16). */
export const CollectionVariable = z
  .object({
    id: z.uuid(),
    collection_id: z.uuid(),
    key: z.string(),
    type: z.string().pipe(z.enum(['value', 'secret'])),
    value: z.string().nullable(),
    secret_id: z.uuid().nullable(),
    description: z.string().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'CollectionVariable' });

const editable = z
  .object({
    key: z.string().regex(/^[A-Za-z0-9_]{1,64}$/, 'must be 1 to 64 letters, digits or underscores'),
    type: z.enum(['value', 'secret']),
    value: z
      .string()
      .refine((v) => new TextEncoder().encode(v).byteLength <= 8 * 1024, 'must be at most 8 KiB')
      .refine((v) => !v.includes('\u0000'), 'must not contain control characters')
      .nullable(),
    secret_id: uuid().nullable(),
    description: text(500),
  })
  .partial();

export const VariablesOf = z.object({ id: pathId() });
export const CreateVariable = z.object({ id: pathId(), ...editable.shape }).required({ key: true });
export const VariableRef = z.object({ id: pathId(), variableId: pathId() });
export const UpdateVariable = atLeastOne(z.object({ ...VariableRef.shape, ...editable.shape }), ['id', 'variableId']);

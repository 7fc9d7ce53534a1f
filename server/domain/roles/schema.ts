import { z } from 'zod';

export const Role = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    applies_to: z.array(z.enum(['api_key', 'user'])),
    is_default: z.boolean(),
    seeded: z.boolean(),
  })
  .meta({ id: 'Role' });

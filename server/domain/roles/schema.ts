import { z } from 'zod';
import {
  type Capability,
  KEY_ROLES,
  keyCapabilities,
  MEMBER_ROLE_ROWS,
  MEMBER_ROLES,
  type MemberRole,
  ROLE_MATRIX,
  rolesWith,
  scopeCapabilities,
  scopeOf,
} from '#server/kernel/capabilities.ts';

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

// The catalogue of roles is data of the release, so that a page can show what a choice means before it is made (interface rule 24 §3).
export {
  type Capability,
  KEY_ROLES,
  keyCapabilities,
  MEMBER_ROLE_ROWS,
  MEMBER_ROLES,
  type MemberRole,
  ROLE_MATRIX,
  rolesWith,
  scopeCapabilities,
  scopeOf,
};

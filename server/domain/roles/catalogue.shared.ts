/**
 * The catalogue of roles is data of the release, so that a page can show what a choice means before it is made (interface rule 24 §3).
 * Apart from the wire's schema: the frame of every page reads it and must not bring a validator with it.
 */
export {
  type Capability,
  type Cell,
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

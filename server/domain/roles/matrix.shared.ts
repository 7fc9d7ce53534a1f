/** What each member role may, for the frame of every page: without the key roles and scopes, and without a validator. */

export { type Needs, sufficientSets } from '#server/kernel/needs.ts';
export { type Capability, MEMBER_ROLES, type MemberRole, ROLE_MATRIX, rolesWith } from '#server/kernel/role-matrix.ts';

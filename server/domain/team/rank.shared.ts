import type { MemberRole } from '#server/kernel/role-matrix.ts';

/** Whether a member of one role may manage a member of another (spec 22 §8): an Owner everybody, an Admin those below Admin. */
export const mayManage = (own: MemberRole, other: MemberRole): boolean => own === 'owner' || (own === 'admin' && !isManager(other));

/** Owners and Admins: granting these roles takes an Owner and a step-up. */
export const isManager = (role: MemberRole): boolean => role === 'owner' || role === 'admin';

/** What each role is for, in one sentence (spec 24 §2). */
export const ROLE_TEXTS: Readonly<Record<MemberRole, string>> = {
  owner: 'Everything, including billing, ownership and deleting the workspace.',
  admin: 'Everything except what is reserved for Owners.',
  editor: 'Builds: routes, secrets, clients, environments. No access to people or billing.',
  viewer: 'Reads configuration and metadata.',
  member: 'Signs in and sees resource names and request metadata.',
};

/** Days until a mailed invitation expires. */
export const INVITATION_DAYS = 7;

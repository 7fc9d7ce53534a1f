/** What other families and planes may use of people: sessions, memberships and the ways to sign in. */
export { auditCtx, auditPerson, type Doer, tenantIdsOf } from './audit.ts';
export { dropMailCodes, issueMailCode, peekLink } from './mail-codes.ts';
export {
  addMembership,
  assertAllowedAddress,
  chosen,
  type MemberRequest,
  memberCtx,
  memberPhotos,
  membersByRole,
  namedMembers,
  scopeMismatch,
  type WorkspaceRow,
  withinScope,
  workspacesOf,
} from './memberships.ts';
export { confirmPassword } from './password-verbs.ts';
export { acceptPassword, checkPassword } from './passwords.ts';
export { pruneIdentityData } from './pruning.ts';
export { createSession, isStillMember, revokeSessions, sessionOf } from './sessions.ts';
export {
  answerOf,
  begin,
  deadLink,
  magicUrl,
  type Scope,
  type SignedIn,
  signInByCode,
  signInByLink,
  signInByPassword,
  signOut,
} from './sign-in.ts';
export { accountByEmail, canonicalEmail, createUser, holdAddress, nobodyYet } from './users.ts';

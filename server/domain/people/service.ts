/** What other families and planes may use of people: sessions, memberships and the ways to sign in. */
export { type AuditedCall, auditCtx, auditPerson, type Doer, tenantIdsOf } from './audit.ts';
export { deviceOf } from './devices.ts';
export { confirmEmailChange, peekEmailLink, undoEmailChange } from './email-change.ts';
export {
  auditEnding,
  type Ended,
  endedBy,
  endedInAll,
  endOthers,
  endPerson,
  holdPerson,
  lockPerson,
  lockSignedIn,
  type PersonEnd,
  signOutMember,
} from './endings.ts';
export { factorsOf, type MfaMethod, mfaMethodsOf, PASSKEY_COLUMNS } from './factor-summary.ts';
export { issueMailCode, peekLink, useCode } from './mail-codes.ts';
export {
  addMembership,
  assertAllowedAddress,
  assertMayEnter,
  chosen,
  lacksFactor,
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
export { countTry, type PendingLogin, pendingLoginOf, usePendingLogin } from './pending-logins.ts';
export { assertMayRename } from './profile.ts';
export { pruneIdentityData } from './pruning.ts';
export { beyondReach, createSession, isStillMember, reachOf, renewToken, sessionOf, vouchedFor } from './sessions.ts';
export {
  answerOf,
  begin,
  deadLink,
  magicUrl,
  recordFailure,
  type Scope,
  type SignedIn,
  type SignIn,
  scopeId,
  signInByCode,
  signInByLink,
  signInByPassword,
  signOut,
  startSession,
} from './sign-in.ts';
export { accountByEmail, canonicalEmail, createUser, holdAddress, nobodyYet, personById } from './users.ts';

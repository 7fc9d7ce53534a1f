import { z } from 'zod';
import { SignedInView, WorkspaceView } from '#server/domain/people/schema.ts';
import { Deleted } from '#server/kernel/fields.ts';
import { exporting, operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { transferOwnership as transfer, updateMember } from './changes.ts';
import { createInvitation, listInvitations, resendInvitation as resend, revokeInvitation as revoke } from './invitations.ts';
import { acceptInvitation, signUpByInvitation, viewInvitation } from './joining.ts';
import { exportMembers, getMember, listMembers } from './listing.ts';
import { endMemberSessions, impactOfRemoval, removeMember } from './removal.ts';
import {
  EndedSessions,
  Invitation,
  InvitationRef,
  InvitationSignUp,
  InvitationToken,
  InvitationView,
  Invite,
  ListMembers,
  Member,
  MemberImpact,
  MemberRef,
  Removed,
  RemoveMember,
  UpdateMember,
} from './schema.ts';

export const list = operation({
  id: 'team.list',
  summary: 'List members',
  http: 'GET /admin/members',
  kind: 'read',
  needs: ['member:list'],
  refuses: [],
  input: ListMembers,
  output: z.array(Member),
  list: 'paged',
  run: (ctx, input) => listMembers(ctx, input),
});

export const get = operation({
  id: 'team.get',
  summary: 'Get a member',
  http: 'GET /admin/members/{id}',
  kind: 'read',
  needs: ['member:list'],
  refuses: ['not_found'],
  input: MemberRef,
  output: Member,
  run: (ctx, input) => getMember(ctx, input),
});

export const update = operation({
  id: 'team.update',
  summary: 'Change a member’s role and permissions',
  http: 'PATCH /admin/members/{id}',
  kind: 'change',
  needs: ['member:update'],
  step_up: { by_verb: ['member.role', 'capability.grant'] },
  refuses: ['not_found', 'role_denied', 'last_owner', 'not_a_member', 'mfa_required', 'step_up_required'],
  input: UpdateMember,
  output: Member,
  run: (ctx, input) => updateMember(ctx, input),
});

const remove = operation({
  id: 'team.delete',
  summary: 'Remove a member, or leave',
  http: 'DELETE /admin/members/{id}',
  kind: 'change',
  // Everybody may leave; whom else one may remove, the verb judges.
  needs: { any: ['member:remove', 'account:read'] },
  while_inactive: true,
  refuses: ['not_found', 'role_denied', 'last_owner', 'not_a_member'],
  input: RemoveMember,
  output: Removed,
  run: (ctx, input, families) => removeMember(ctx, input, families),
});

export const impact = operation({
  id: 'team.impact',
  summary: 'Show what ends when a member leaves',
  http: 'GET /admin/members/{id}/impact',
  kind: 'read',
  needs: { any: ['member:remove', 'account:read'] },
  refuses: ['not_found', 'role_denied'],
  input: MemberRef,
  output: MemberImpact,
  run: (ctx, input, families) => impactOfRemoval(ctx, input, families),
});

export const endSessions = operation({
  id: 'team.end_sessions',
  summary: 'Sign a member out of the workspace',
  http: 'DELETE /admin/members/{id}/sessions',
  kind: 'change',
  needs: ['member:remove'],
  while_inactive: true,
  refuses: ['not_found', 'role_denied', 'not_a_member'],
  input: MemberRef,
  output: EndedSessions,
  run: (ctx, input) => endMemberSessions(ctx, input),
});

export const transferOwnership = operation({
  id: 'team.transfer_ownership',
  summary: 'Transfer ownership to a member',
  http: 'POST /admin/members/{id}/transfer-ownership',
  kind: 'change',
  needs: ['tenant:transfer'],
  step_up: 'tenant.transfer',
  refuses: ['not_found', 'role_denied', 'not_a_member'],
  input: MemberRef,
  output: Member,
  run: (ctx, input) => transfer(ctx, input),
});

export const downloadMembers = exporting({
  id: 'team.export',
  summary: 'Export members as CSV',
  http: 'GET /admin/members/export',
  needs: ['member:update'],
  refuses: [],
  input: z.object({}),
  stream: (ctx) => exportMembers(ctx),
});

export const invitations = operation({
  id: 'team.invitations',
  summary: 'List pending invitations',
  http: 'GET /admin/invitations',
  kind: 'read',
  needs: ['member:invite'],
  refuses: [],
  input: z.object({}),
  output: z.array(Invitation),
  list: 'whole',
  run: async (ctx) => wholeList(await listInvitations(ctx)),
});

export const invite = operation({
  id: 'team.invite',
  summary: 'Invite somebody by email',
  http: 'POST /admin/invitations',
  kind: 'change',
  needs: ['member:invite'],
  step_up: { by_verb: ['member.role', 'capability.grant'] },
  refuses: ['role_denied', 'conflict', 'plan_limit', 'rate_limited', 'not_a_member', 'mfa_required', 'step_up_required'],
  input: Invite,
  output: Invitation,
  success: 201,
  run: (ctx, input) => createInvitation(ctx, input),
});

export const resendInvitation = operation({
  id: 'team.resend_invitation',
  summary: 'Send an invitation again',
  http: 'POST /admin/invitations/{id}/resend',
  kind: 'change',
  needs: ['member:invite'],
  step_up: { by_verb: ['member.role', 'capability.grant'] },
  refuses: ['not_found', 'role_denied', 'conflict', 'plan_limit', 'rate_limited', 'not_a_member', 'mfa_required', 'step_up_required'],
  input: InvitationRef,
  output: Invitation,
  run: (ctx, input) => resend(ctx, input),
});

export const revokeInvitation = operation({
  id: 'team.revoke_invitation',
  summary: 'Withdraw an invitation',
  http: 'DELETE /admin/invitations/{id}',
  kind: 'change',
  needs: ['member:invite'],
  while_inactive: true,
  refuses: ['not_found', 'role_denied', 'not_a_member'],
  input: InvitationRef,
  output: Deleted,
  run: (ctx, input) => revoke(ctx, input),
});

export const viewInvited = operation({
  id: 'auth.invitations.get',
  summary: 'Show an invitation',
  http: 'GET /auth/invitations/{token}',
  kind: 'read',
  needs: 'visitor',
  refuses: ['not_found'],
  input: InvitationToken,
  output: InvitationView,
  run: (ctx, input) => viewInvitation(ctx, input),
});

export const acceptInvited = operation({
  id: 'auth.invitations.accept',
  summary: 'Accept an invitation',
  http: 'POST /auth/invitations/{token}/accept',
  kind: 'change',
  needs: 'session',
  refuses: ['not_found', 'forbidden', 'conflict', 'session_scope_mismatch'],
  input: InvitationToken,
  output: z.object({ workspace: WorkspaceView, redirect_to: z.string() }),
  run: (ctx, input) => acceptInvitation(ctx, input),
});

export const signUpInvited = operation({
  id: 'auth.invitations.sign_up',
  summary: 'Create an account with an invitation',
  http: 'POST /auth/invitations/{token}/sign-up',
  kind: 'mint',
  needs: 'visitor',
  refuses: ['not_found', 'conflict'],
  input: InvitationSignUp,
  output: SignedInView,
  run: (ctx, input) => signUpByInvitation(ctx, input),
});

export { remove as delete };

import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { confirmEmailChange, requestEmailChange, undoEmailChange } from './email-change.ts';
import { withinScope, workspacesOf } from './memberships.ts';
import { changePassword, forgotPassword, resetPassword } from './password-verbs.ts';
import { endOtherSessions, endSession, listSessions, me, selectWorkspace, updateMe } from './profile.ts';
import {
  ChangeEmail,
  ChangePassword,
  EmailLink,
  Ended,
  ForgotPassword,
  Login,
  MagicStart,
  Me,
  Nothing,
  ResetPassword,
  SelectWorkspace,
  SessionList,
  SessionRef,
  SignInAnswer,
  UpdateMe,
  WorkspaceView,
} from './schema.ts';
import { answerOf, signInByPassword, signOut, startMailedSignIn } from './sign-in.ts';

const Ok = z.object({ status: z.literal('ok') });
const Accepted = z.object({ status: z.literal('accepted'), message: z.string() });
const accepted = (message: string) => ({ status: 'accepted' as const, message });

export const login = operation({
  id: 'auth.login',
  summary: 'Sign in with email and password',
  http: 'POST /auth/login',
  kind: 'mint',
  needs: 'visitor',
  refuses: ['invalid_credentials', 'not_a_member', 'sso_required'],
  input: Login,
  output: SignInAnswer,
  run: async (ctx, input) => answerOf(await signInByPassword(ctx, input)),
});

export const logout = operation({
  id: 'auth.logout',
  summary: 'Sign out',
  http: 'POST /auth/logout',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  refuses: [],
  input: Nothing,
  output: Ok,
  run: async (ctx) => {
    await signOut(ctx);
    return { status: 'ok' as const };
  },
});

export const magicStart = operation({
  id: 'auth.magic.start',
  summary: 'Email a sign-in code and link',
  http: 'POST /auth/magic/start',
  kind: 'change',
  needs: 'visitor',
  refuses: [],
  input: MagicStart,
  output: Accepted,
  success: 202,
  run: async (ctx, input) => {
    await startMailedSignIn(ctx, input);
    return accepted('If the address has an account, a code is on its way.');
  },
});

export const getMe = operation({
  id: 'auth.me',
  summary: 'Get the signed-in person',
  http: 'GET /auth/me',
  kind: 'read',
  needs: 'session',
  vouched: 'workspace',
  refuses: [],
  input: Nothing,
  output: Me,
  run: (ctx) => me(ctx),
});

export const patchMe = operation({
  id: 'auth.me.update',
  summary: 'Update your profile',
  http: 'PATCH /auth/me',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  refuses: ['role_denied', 'mfa_required', 'session_scope_mismatch', 'forbidden', 'sso_required'],
  input: UpdateMe,
  output: Me,
  run: (ctx, input) => updateMe(ctx, input),
});

export const sessions = operation({
  id: 'auth.sessions.list',
  summary: 'List your sessions',
  http: 'GET /auth/sessions',
  kind: 'read',
  needs: 'session',
  vouched: 'workspace',
  refuses: [],
  input: Nothing,
  output: SessionList,
  run: (ctx) => listSessions(ctx),
});

export const deleteSessions = operation({
  id: 'auth.sessions.delete-others',
  summary: 'End all other sessions',
  http: 'DELETE /auth/sessions',
  kind: 'mint',
  any_session: { why: 'the session gets a new token, and ends when it would have' },
  needs: 'session',
  vouched: 'workspace',
  refuses: [],
  input: Nothing,
  output: Deleted.extend({ token: z.string(), revoked: z.number(), apps: z.number() }),
  run: (ctx) => endOtherSessions(ctx),
});

export const deleteSession = operation({
  id: 'auth.sessions.delete',
  summary: 'End a session',
  http: 'DELETE /auth/sessions/{id}',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  refuses: ['not_found'],
  input: SessionRef,
  output: Deleted.extend({ connected_apps: z.number() }),
  run: (ctx, input) => endSession(ctx, input),
});

export const workspaces = operation({
  id: 'auth.workspaces.list',
  summary: 'List your workspaces',
  http: 'GET /auth/workspaces',
  kind: 'read',
  needs: 'session',
  vouched: 'workspace',
  refuses: [],
  input: Nothing,
  output: z.object({ workspaces: z.array(WorkspaceView) }),
  run: async (ctx) => ({ workspaces: withinScope(await workspacesOf(ctx.db, ctx.user.id), ctx.session) }),
});

export const select = operation({
  id: 'auth.workspaces.select',
  summary: 'Select a workspace',
  http: 'POST /auth/workspaces/select',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  refuses: ['not_a_member', 'session_scope_mismatch', 'forbidden'],
  input: SelectWorkspace,
  output: z.object({ workspace: WorkspaceView }),
  run: (ctx, input) => selectWorkspace(ctx, input),
});

export const forgot = operation({
  id: 'auth.password.forgot',
  summary: 'Email a password reset link',
  http: 'POST /auth/password/forgot',
  kind: 'change',
  needs: 'visitor',
  refuses: [],
  input: ForgotPassword,
  output: Accepted,
  success: 202,
  run: async (ctx, input) => {
    await forgotPassword(ctx, input);
    return accepted('If the address has an account, a link is on its way.');
  },
});

export const reset = operation({
  id: 'auth.password.reset',
  summary: 'Set a password with an emailed link',
  http: 'POST /auth/password/reset',
  kind: 'change',
  needs: 'visitor',
  refuses: ['mfa_code_invalid'],
  input: ResetPassword,
  output: Ok.extend({ ended: Ended }),
  run: async (ctx, input) => ({ status: 'ok' as const, ...(await resetPassword(ctx, input)) }),
});

export const change = operation({
  id: 'auth.password.change',
  summary: 'Change your password',
  http: 'POST /auth/password/change',
  kind: 'mint',
  needs: 'session',
  vouched: 'proof',
  step_up: { when_enrolled: 'mfa.credential' },
  refuses: ['invalid_credentials'],
  input: ChangePassword,
  output: Ok.extend({ token: z.string(), ended: Ended }),
  run: async (ctx, input) => ({ status: 'ok' as const, ...(await changePassword(ctx, input)) }),
});

export const changeEmail = operation({
  id: 'auth.email.change',
  summary: 'Request a new email address',
  http: 'POST /auth/email/change',
  kind: 'change',
  needs: 'session',
  vouched: 'proof',
  step_up: { when_enrolled: 'mfa.credential' },
  refuses: ['invalid_credentials'],
  input: ChangeEmail,
  output: Accepted,
  success: 202,
  run: async (ctx, input) => {
    await requestEmailChange(ctx, input);
    return accepted('If the address is free, a link is on its way to it.');
  },
});

export const confirmEmail = operation({
  id: 'auth.email.confirm',
  summary: 'Confirm a new email address',
  http: 'POST /auth/email/confirm',
  kind: 'change',
  needs: 'visitor',
  refuses: ['mfa_code_invalid', 'conflict'],
  input: EmailLink,
  output: Ok.extend({ email: z.string() }),
  run: async (ctx, input) => ({ status: 'ok' as const, ...(await confirmEmailChange(ctx, input)) }),
});

export const undoEmail = operation({
  id: 'auth.email.undo',
  summary: 'Undo a change of the email address',
  http: 'POST /auth/email/undo',
  kind: 'change',
  needs: 'visitor',
  refuses: ['mfa_code_invalid', 'conflict'],
  input: EmailLink,
  output: Ok.extend({ email: z.string(), ended: Ended }),
  run: async (ctx, input) => ({ status: 'ok' as const, ...(await undoEmailChange(ctx, input)) }),
});

import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { personOperation } from '#server/kernel/person-operation.ts';
import { withinScope, workspacesOf } from './memberships.ts';
import { changePassword, forgotPassword, resetPassword } from './password-verbs.ts';
import { endOtherSessions, endSession, listSessions, me, selectWorkspace, updateMe } from './profile.ts';
import {
  ChangePassword,
  ForgotPassword,
  Login,
  MagicStart,
  Me,
  Nothing,
  ResetPassword,
  SelectWorkspace,
  SessionList,
  SessionRef,
  SignedInView,
  UpdateMe,
  WorkspaceView,
} from './schema.ts';
import { answerOf, signInByPassword, signOut, startMailedSignIn } from './sign-in.ts';

const Ok = z.object({ status: z.literal('ok') });
const Accepted = z.object({ status: z.literal('accepted'), message: z.string() });
const accepted = (message: string) => ({ status: 'accepted' as const, message });

export const login = personOperation({
  id: 'auth.login',
  summary: 'Sign in with email and password',
  http: 'POST /auth/login',
  kind: 'mint',
  session: 'none',
  refuses: ['invalid_credentials', 'not_a_member'],
  input: Login,
  output: SignedInView,
  run: async (ctx, input) => answerOf(await signInByPassword(ctx, input)),
});

export const logout = personOperation({
  id: 'auth.logout',
  summary: 'Sign out',
  http: 'POST /auth/logout',
  kind: 'change',
  session: 'required',
  refuses: [],
  input: Nothing,
  output: Ok,
  run: async (ctx) => {
    await signOut(ctx);
    return { status: 'ok' as const };
  },
});

export const magicStart = personOperation({
  id: 'auth.magic.start',
  summary: 'Email a sign-in code and link',
  http: 'POST /auth/magic/start',
  kind: 'change',
  session: 'none',
  refuses: [],
  input: MagicStart,
  output: Accepted,
  success: 202,
  run: async (ctx, input) => {
    await startMailedSignIn(ctx, input);
    return accepted('If the address has an account, a code is on its way.');
  },
});

export const getMe = personOperation({
  id: 'auth.me',
  summary: 'Get the signed-in person',
  http: 'GET /auth/me',
  kind: 'read',
  session: 'required',
  refuses: [],
  input: Nothing,
  output: Me,
  run: (ctx) => me(ctx),
});

export const patchMe = personOperation({
  id: 'auth.me.update',
  summary: 'Update your profile',
  http: 'PATCH /auth/me',
  kind: 'change',
  session: 'required',
  refuses: ['role_denied', 'mfa_required'],
  input: UpdateMe,
  output: Me,
  run: (ctx, input) => updateMe(ctx, input),
});

export const sessions = personOperation({
  id: 'auth.sessions.list',
  summary: 'List your sessions',
  http: 'GET /auth/sessions',
  kind: 'read',
  session: 'required',
  refuses: [],
  input: Nothing,
  output: SessionList,
  run: (ctx) => listSessions(ctx),
});

export const deleteSessions = personOperation({
  id: 'auth.sessions.delete-others',
  summary: 'End all other sessions',
  http: 'DELETE /auth/sessions',
  kind: 'change',
  session: 'required',
  refuses: [],
  input: Nothing,
  output: Deleted.extend({ revoked: z.number() }),
  run: (ctx) => endOtherSessions(ctx),
});

export const deleteSession = personOperation({
  id: 'auth.sessions.delete',
  summary: 'End a session',
  http: 'DELETE /auth/sessions/{id}',
  kind: 'change',
  session: 'required',
  refuses: ['not_found'],
  input: SessionRef,
  output: Deleted,
  run: (ctx, input) => endSession(ctx, input),
});

export const workspaces = personOperation({
  id: 'auth.workspaces.list',
  summary: 'List your workspaces',
  http: 'GET /auth/workspaces',
  kind: 'read',
  session: 'required',
  refuses: [],
  input: Nothing,
  output: z.object({ workspaces: z.array(WorkspaceView) }),
  run: async (ctx) => ({ workspaces: withinScope(await workspacesOf(ctx.db, ctx.user.id), ctx.session) }),
});

export const select = personOperation({
  id: 'auth.workspaces.select',
  summary: 'Select a workspace',
  http: 'POST /auth/workspaces/select',
  kind: 'change',
  session: 'required',
  refuses: ['not_a_member', 'session_scope_mismatch'],
  input: SelectWorkspace,
  output: z.object({ workspace: WorkspaceView }),
  run: (ctx, input) => selectWorkspace(ctx, input),
});

export const forgot = personOperation({
  id: 'auth.password.forgot',
  summary: 'Email a password reset link',
  http: 'POST /auth/password/forgot',
  kind: 'change',
  session: 'none',
  refuses: [],
  input: ForgotPassword,
  output: Accepted,
  success: 202,
  run: async (ctx, input) => {
    await forgotPassword(ctx, input);
    return accepted('If the address has an account, a link is on its way.');
  },
});

export const reset = personOperation({
  id: 'auth.password.reset',
  summary: 'Set a password with an emailed link',
  http: 'POST /auth/password/reset',
  kind: 'change',
  session: 'none',
  refuses: ['mfa_code_invalid'],
  input: ResetPassword,
  output: Ok,
  run: async (ctx, input) => {
    await resetPassword(ctx, input);
    return { status: 'ok' as const };
  },
});

export const change = personOperation({
  id: 'auth.password.change',
  summary: 'Change your password',
  http: 'POST /auth/password/change',
  kind: 'mint',
  session: 'required',
  refuses: ['invalid_credentials'],
  input: ChangePassword,
  output: Ok.extend({ token: z.string() }),
  run: async (ctx, input) => ({ status: 'ok' as const, ...(await changePassword(ctx, input)) }),
});

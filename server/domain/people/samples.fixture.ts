import { newId } from '#server/kernel/ids.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { PASSWORD, type PersonSample, type TestPerson } from '#server/testing/test-person.ts';

const nothing: PersonSample = async () => ({});

export const samples = {};

export const personSamples: Record<string, PersonSample> = {
  'auth.login': async ({ email }) => ({ email, password: PASSWORD }),
  'auth.logout': nothing,
  'auth.magic.start': async ({ email }) => ({ email }),
  'auth.me': nothing,
  'auth.me.update': async () => ({ full_name: 'Renamed', preferences: { pins: ['routes'] } }),
  'auth.sessions.list': nothing,
  'auth.sessions.delete-others': async ({ signIn }) => {
    await signIn();
    return {};
  },
  'auth.sessions.delete': async ({ b, signIn }) => {
    await signIn();
    const { sessions } = (await b.get('/auth/sessions')).body as unknown as { sessions: { id: string; current: boolean }[] };
    return { id: sessions.find(({ current }) => !current)?.id };
  },
  'auth.workspaces.list': nothing,
  'auth.workspaces.select': async ({ w }) => ({ tenant_id: w.tenant.id }),
  'auth.password.forgot': async ({ email }) => ({ email }),
  'auth.password.reset': async ({ b, email }) => {
    await b.post('/auth/password/forgot', { email });
    const mail = (await mailsTo(email)).find(({ kind }) => kind === 'password_reset');
    return { token: /reset\?token=([\w-]{43})/.exec(mail?.text ?? '')?.[1], new: 'another harbour at dawn' };
  },
  'auth.email.change': async () => ({ email: `${newId()}@example.test`, password: PASSWORD }),
  'auth.email.confirm': async (who) => ({ token: await emailToken(who) }),
  'auth.email.undo': async (who) => {
    await who.b.post('/auth/email/confirm', { token: await emailToken(who) });
    return { token: tokenIn((await mailsTo(who.email)).find(({ kind }) => kind === 'email_changed')?.text) };
  },
  'auth.password.change': async () => ({ current: PASSWORD, new: 'another harbour at dawn' }),
};

/** The link that was mailed to a new address of the person. */
async function emailToken({ b, email, signIn }: TestPerson) {
  const to = `new-${email}`;
  await signIn(b);
  await b.post('/auth/email/change', { email: to, password: PASSWORD });
  return tokenIn((await mailsTo(to)).find(({ kind }) => kind === 'email_change')?.text);
}
const tokenIn = (text = '') => /token=([\w-]{43})/.exec(text)?.[1];

export const unaudited = {
  'auth.magic.start': 'nobody proved who they are yet',
  'auth.password.forgot': 'nobody proved who they are yet',
  'auth.workspaces.select': 'a choice of this session',
};

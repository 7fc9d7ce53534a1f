import type { NextAuthOptions } from 'next-auth';
import { edgeOf } from '#server/api/edge.ts';
import { Login, MagicVerify } from '#server/domain/people/schema.ts';
import { type SignIn, sessionOf, signInByCode, signInByPassword, signOut } from '#server/domain/people/service.ts';
import { useMagicLink } from '#server/domain/signup/service.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { log } from '#server/platform/log.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { callerOf } from './handle.ts';
import { authSecret, cookieOptions, decodeCookie, sessionCookieName } from './session-cookie.ts';

/**
 * next-auth's part: its own sign-in, sign-out and session paths end in the same verbs as /auth/*, and its JWT carries the session token and nothing
 * that anybody trusts. Made per process, since the secret may come from the root key.
 */
export function nextAuthOptions(): NextAuthOptions {
  return {
    secret: authSecret(),
    session: { strategy: 'jwt', maxAge: 30 * 24 * 3600 },
    jwt: { decode: decodeCookie },
    cookies: { sessionToken: { name: sessionCookieName(), options: cookieOptions() } },
    pages: { signIn: '/signin', signOut: '/signin', error: '/signin', verifyRequest: '/check-mail', newUser: '/onboarding' },
    providers: [
      {
        type: 'credentials',
        id: 'password',
        name: 'Password',
        credentials: { email: {}, password: {} },
        authorize: (given, req) => authorised(req.headers, async (ctx) => signInByPassword(ctx, parsed(Login.safeParse(fieldsOf(given))))),
      },
      {
        type: 'credentials',
        id: 'mail',
        name: 'Email code or link',
        credentials: { email: {}, code: {}, token: {} },
        authorize: (given, req) =>
          authorised(req.headers, async (ctx) => {
            const input = parsed(MagicVerify.safeParse(fieldsOf(given)));
            if (input.token !== undefined) return useMagicLink(ctx, { ...input, token: input.token });
            return signInByCode(ctx, { ...input, email: input.email ?? '', code: input.code ?? '' });
          }),
      },
    ],
    callbacks: {
      /** First call after a sign-in: takes the token over. Later calls: the row decides, and a dead one throws, which clears the cookie. */
      jwt: async ({ token, user }) => {
        if (user) return { ses: (user as AuthUser).ses };
        if (typeof token.ses !== 'string' || !(await sessionOf(token.ses, new Date()))) throw new Error('the session has ended');
        return { ses: token.ses };
      },
      session: async ({ session, token }) => {
        const person = typeof token.ses === 'string' ? await sessionOf(token.ses, new Date()) : null;
        if (!person) throw new Error('the session has ended');
        return {
          user: { name: person.user.full_name, email: person.user.email },
          expires: earlier(session.expires, person.session.expires_at),
        };
      },
    },
    events: {
      signOut: async ({ token }) => {
        const now = new Date();
        const person = typeof token?.ses === 'string' ? await sessionOf(token.ses, now) : null;
        if (person) await signOut({ ...callerOf(new Headers(), null), ...person, now });
      },
    },
    logger: {
      // An ended session is an everyday thing, and next-auth reports it as an error.
      error: (code, metadata) =>
        code === 'JWT_SESSION_ERROR' ? log.debug({ code }, 'next-auth') : log.warn({ code, err: metadata }, 'next-auth'),
      warn: (code) => log.debug({ code }, 'next-auth'),
      debug: () => {},
    },
  };
}

type AuthUser = { id: string; email: string; name: string; ses: string };

/** Runs a sign-in verb for next-auth, which shows the sentence of a refusal and hides everything else. */
async function authorised(headers: Record<string, unknown> | undefined, signIn: (ctx: PersonCtx) => Promise<SignIn>): Promise<AuthUser> {
  const head = new Headers(
    Object.entries(headers ?? {}).flatMap(([name, value]): [string, string][] => (typeof value === 'string' ? [[name, value]] : [])),
  );
  try {
    const begun = await signIn(callerOf(head, edgeOf(head)));
    // These forms have no second step; /auth/login and the page of the link have.
    if (begun.status !== 'ok') throw new Refusal('mfa_required', 'This account has a second factor. Sign in on the sign-in page.');
    const { user, token } = begun;
    return { id: user.id, email: user.email, name: user.full_name, ses: token };
  } catch (error) {
    if (error instanceof Refusal && error.status < 500) throw new Error(error.type, { cause: error });
    logFailure(error, undefined, 'sign-in failed');
    throw new Error('internal_error');
  }
}

/** next-auth adds its own members to what the form sent; the schemas drop them. */
const fieldsOf = (given: Record<string, string> | undefined) =>
  Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== ''));

function parsed<T>(result: { success: true; data: T } | { success: false }): T {
  if (!result.success) throw new Refusal('invalid', 'Check the form for missing or invalid fields.');
  return result.data;
}

const earlier = (a: string, b: Date) => (new Date(a) < b ? a : b.toISOString());

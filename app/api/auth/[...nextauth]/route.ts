import NextAuth from 'next-auth';
import { nextAuthOptions } from '#server/auth/next-auth.ts';

export const dynamic = 'force-dynamic';

type Context = { params: Promise<{ nextauth: string[] }> };
// The package is CommonJS: whether its default export is wrapped once more depends on who loads it.
const make = (NextAuth as typeof NextAuth & { default?: typeof NextAuth }).default ?? NextAuth;
/** The secret is not known when pages are built, so the handler is made at the first request. */
let handler: ((req: Request, context: Context) => Promise<Response>) | undefined;
const mount = (req: Request, context: Context) => {
  handler ??= make(nextAuthOptions()) as NonNullable<typeof handler>;
  return handler(req, context);
};

export { mount as GET, mount as POST };

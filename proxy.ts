import { type NextRequest, NextResponse } from 'next/server';
import { formActionOf } from '#server/domain/oauth-grants/form-action.ts';
import { env } from '#server/platform/env.ts';

/**
 * Security headers of dashboard pages, and nothing else: authorisation never lives here (a middleware can be skipped; see SECURITY.md).
 * Each page gets a fresh nonce; Next puts it on its own scripts when it finds it in the request's policy.
 */
export async function proxy(req: NextRequest) {
  const nonce = Buffer.from(crypto.randomUUID()).toString('base64');
  const dev = process.env.NODE_ENV === 'development';
  const policy = [
    "default-src 'self'",
    // Development evaluates modules; a production page runs only what carries the nonce.
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${dev ? " 'unsafe-eval'" : ''}`,
    // React writes style attributes; a style cannot run code.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self'${dev ? ' ws:' : ''}`,
    // Hosted fields, which live on the hosts of the API. A page that was opened by a link keeps the policy of the first.
    `frame-src ${env.PUBLIC_API_URL} ${env.PUBLIC_SANDBOX_API_URL}`,
    "object-src 'none'",
    "base-uri 'none'",
    `form-action 'self'${await leadsTo(req.nextUrl.pathname)}`,
    "frame-ancestors 'none'",
  ].join('; ');
  const headers = new Headers(req.headers);
  headers.set('x-nonce', nonce);
  headers.set('content-security-policy', policy);
  // Layouts do not know which page they stand around; set here whatever the caller sent.
  headers.set('x-page', pageOf(req.nextUrl));
  const response = NextResponse.next({ request: { headers } });
  response.headers.set('content-security-policy', policy);
  response.headers.set('x-content-type-options', 'nosniff');
  response.headers.set('referrer-policy', 'same-origin');
  response.headers.set('permissions-policy', 'camera=(), microphone=(), geolocation=()');
  return response;
}

/** The application that a consent page answers: browsers apply form-action to where a form is redirected. A page whose origin can't be read keeps its own. */
async function leadsTo(pathname: string): Promise<string> {
  const [, handle] = /^\/oauth\/consent\/([A-Za-z0-9_-]+)$/.exec(pathname) ?? [];
  const source = handle && (await formActionOf(handle).catch(() => null));
  return source ? ` ${source}` : '';
}

/** The path and query as the address bar has them: without what Next adds to fetch only a part of the page. */
function pageOf({ pathname, searchParams }: NextRequest['nextUrl']): string {
  const query = new URLSearchParams(searchParams);
  query.delete('_rsc');
  const text = query.toString();
  return text ? `${pathname}?${text}` : pathname;
}

export const config = {
  matcher: [
    '/((?!_next/static|_next/image|v1/|admin/|auth/|api/|oauth/(?!consent/|device/)|scim/|hooks/|\\.well-known/|[^/]+\\.(?:svg|png|ico|json|mjs|txt|woff2)$).*)',
  ],
};

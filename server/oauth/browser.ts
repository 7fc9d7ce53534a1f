import type { Edge } from '#server/api/edge.ts';
import { secured } from '#server/api/respond.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { activate, activatePage } from './activate.ts';
import { authorize } from './authorize.ts';
import { errorPage } from './browser-page.ts';
import { OAuthProblem } from './problem.ts';

type BrowserEndpoint = (req: Request, edge: Edge, now: Date) => Response | Promise<Response>;

/** What a person's browser opens; its answers are pages and redirects, its failures too. */
const PAGES: Readonly<Record<string, BrowserEndpoint>> = {
  'GET /oauth/authorize': authorize,
  'GET /oauth/activate': activatePage,
  'POST /oauth/activate': activate,
};
const METHODS = ['GET', 'POST'] as const;

/** The answer of a path that a browser opens; null for all others. */
export async function answerBrowser(req: Request, edge: Edge): Promise<Response | null> {
  const { pathname } = new URL(req.url);
  const allowed = METHODS.filter((method) => PAGES[`${method} ${pathname}`]);
  if (allowed.length === 0) return null;
  const endpoint = PAGES[`${req.method === 'HEAD' ? 'GET' : req.method} ${pathname}`];
  const response = endpoint
    ? await Promise.resolve(endpoint(req, edge, new Date())).catch((error: unknown) => failed(error, edge))
    : errorPage('Method not allowed', 'Open this address in a browser.', 405, { allow: allowed.join(', ') });
  return secured(req.method === 'HEAD' ? new Response(null, response) : response, edge.request_id);
}

function failed(error: unknown, { request_id }: Edge): Response {
  if (error instanceof OAuthProblem) return errorPage('This request can’t be read', error.message, error.status);
  const { status, message, retryAfter } = asRefusal(error);
  if (status === 429) return errorPage('Too many requests', message, 429, { 'retry-after': String(Math.ceil(retryAfter ?? 60)) });
  if (status < 500) return errorPage('This request can’t be read', message, status);
  logFailure(error, request_id, 'authorization server page failed');
  return errorPage('Something went wrong', 'Try again in a moment. Nothing was shared with the application.', 503, { 'retry-after': '5' });
}

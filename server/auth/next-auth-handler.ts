import * as nextAuth from 'next-auth/next';
import { edgeOf } from '#server/api/edge.ts';
import { bodyOf } from '#server/api/input.ts';
import { refusalHeaders } from '#server/api/respond.ts';
import { formFields, parseBounded } from '#server/kernel/bounded-text.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { sizeText } from '#server/kernel/numbers.ts';
import { env } from '#server/platform/env.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { nextAuthOptions } from './next-auth.ts';
import { assertNotForeign } from './same-origin.ts';

/** What next-auth is asked here, by method and action; `provider`: a second segment may, or must, name one of ours. */
const ANSWERED: Readonly<Record<string, readonly ('GET' | 'POST')[]>> = {
  providers: ['GET'],
  csrf: ['GET'],
  session: ['GET'],
  signin: ['GET', 'POST'],
  callback: ['GET', 'POST'],
  signout: ['GET', 'POST'],
  error: ['GET'],
  'verify-request': ['GET'],
};
const PROVIDERS: readonly string[] = ['password', 'mail'];

/**
 * next-auth's paths under /api/auth, behind a gate: what it would answer with a text of its own, a 500 for a stranger's mistake, or a line in our log
 * that a stranger wrote (`_log`), is refused here, and an address to return to is passed on only when it lies in this dashboard.
 */
export async function handleNextAuth(req: Request): Promise<Response> {
  const request_id = edgeOf(req.headers)?.request_id ?? newId();
  const response = await answer(req).catch((error: unknown) => refused(asRefusal(error), request_id));
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'x-request-id': request_id,
  }))
    headers.set(name, value);
  return new Response(req.method === 'HEAD' ? null : response.body, { status: response.status, headers });
}

async function answer(req: Request): Promise<Response> {
  const url = new URL(req.url);
  const [action = '', provider, ...more] = url.pathname.slice('/api/auth/'.length).split('/');
  const methods = Object.hasOwn(ANSWERED, action) ? ANSWERED[action] : undefined;
  const takesProvider = action === 'signin' || action === 'callback';
  const known = provider === undefined ? action !== 'callback' : takesProvider && PROVIDERS.includes(provider);
  if (!methods || !known || more.length > 0) throw new Refusal('not_found', 'No such path.');
  const method = req.method === 'HEAD' ? 'GET' : req.method;
  if (!methods.some((one) => one === method))
    throw new Refusal('method_not_allowed', `Method not allowed. This path supports ${methods.join(', ')}.`, {
      headers: { allow: methods.join(', ') },
    });
  // A form's answer, opened again by reload or from the history: there is nothing to show but the form.
  if (action === 'callback' && method === 'GET') return redirect('/signin');
  if (method === 'POST') assertNotForeign(req.headers);
  return asked(req, { action, provider, method, query: fields(url.searchParams), body: method === 'POST' ? await formOf(req) : {} });
}

type Asked = { action: string; provider: string | undefined; method: string; query: Fields; body: Fields };
type Fields = Record<string, string>;

/** next-auth's own page handler over a plain request: nothing of the framework's ambient state comes in. */
async function asked(req: Request, { action, provider, method, query, body }: Asked): Promise<Response> {
  const out: { status: number; headers: Headers; body: unknown } = { status: 200, headers: new Headers(), body: undefined };
  const res: Res = {
    status: (code) => {
      out.status = code;
      return res;
    },
    setHeader: (name, value) => {
      out.headers.delete(name);
      for (const one of [value].flat()) out.headers.append(name, one);
      return res;
    },
    getHeader: (name) => (name.toLowerCase() === 'set-cookie' ? out.headers.getSetCookie() : (out.headers.get(name) ?? undefined)),
    end: () => {},
    json: (value) => void Object.assign(out, { body: value }),
    send: (value) => void Object.assign(out, { body: value }),
  };
  const nextauth = provider === undefined ? [action] : [action, provider];
  const request = {
    method,
    headers: Object.fromEntries(req.headers),
    cookies: cookiesOf(req.headers),
    query: { ...query, nextauth },
    body,
  };
  await serve(request, res, nextAuthOptions());
  if (out.status >= 500) throw new Error(`next-auth answered ${out.status} to ${method} ${action}`);
  const location = out.headers.get('location');
  if (location !== null && !ownAddress(location)) out.headers.set('location', '/signin');
  if (out.status >= 400 && (typeof out.body !== 'object' || out.body === null))
    throw new Refusal('invalid', 'The request could not be parsed.');
  const { url } = (out.body ?? {}) as { url?: string };
  const payload = url === undefined ? out.body : { ...(out.body as object), url: ownAddress(url) ?? `${env.PUBLIC_ADMIN_URL}/signin` };
  out.headers.delete('content-type');
  if (payload === undefined || payload === '') return new Response(null, { status: out.status, headers: out.headers });
  return Response.json(payload, { status: out.status, headers: out.headers });
}

type Res = {
  status: (code: number) => Res;
  setHeader: (name: string, value: string | string[]) => Res;
  getHeader: (name: string) => unknown;
  end: () => void;
  json: (value: unknown) => void;
  send: (value: unknown) => void;
};
type Serve = (req: unknown, res: Res, options: unknown) => Promise<void>;
// The package is CommonJS: how often its default export is wrapped depends on who loads it.
const unwrapped = (module: unknown): Serve =>
  typeof module === 'function' ? (module as Serve) : unwrapped((module as { default: unknown }).default);
const serve = unwrapped(nextAuth);

const redirect = (path: string) => new Response(null, { status: 303, headers: { location: path } });

const FORM_LIMIT = 16 * 1024;

/** The fields of a form or of a JSON object; members that are no text are not passed on. @throws Refusal invalid, payload_too_large, unsupported_media_type */
async function formOf(req: Request): Promise<Fields> {
  const bytes = await bodyOf(req);
  if (bytes.byteLength > FORM_LIMIT) throw new Refusal('payload_too_large', `The request body must not exceed ${sizeText(FORM_LIMIT)}.`);
  const type = req.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const text = new TextDecoder().decode(bytes);
  if (text === '') return {};
  if (type === 'application/x-www-form-urlencoded') return fields(formFields(text));
  if (type !== 'application/json') throw new Refusal('unsupported_media_type', 'Send the body as a form or as application/json.');
  return fields(Object.entries(objectOf(text)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function objectOf(text: string): object {
  try {
    const value: unknown = parseBounded(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    if (error instanceof Refusal) throw error;
  }
  throw new Refusal('invalid', 'The request body must be a JSON object.');
}

/** Without an address to return to that leads out of the dashboard: next-auth would call it a fault of its configuration. */
function fields(pairs: Iterable<[string, string]>): Fields {
  const { callbackUrl, ...rest } = Object.fromEntries(pairs) as Fields;
  const own = callbackUrl === undefined ? undefined : ownAddress(callbackUrl);
  return own === undefined ? rest : { ...rest, callbackUrl: own };
}

/** An address of this dashboard in full; undefined for every other, however it is spelled. */
function ownAddress(text: string): string | undefined {
  const { origin } = new URL(env.PUBLIC_ADMIN_URL);
  const url = URL.parse(text, `${origin}/`);
  return url && url.origin === origin && !url.username && !/^\/[/\\]/.test(url.pathname) ? url.href : undefined;
}

/** All but the one that remembers an address to return to: whoever may set a cookie for a parent domain could break sign-in with it. */
function cookiesOf(headers: Headers): Fields {
  const found: Fields = {};
  for (const part of (headers.get('cookie') ?? '').split(';')) {
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim();
    if (at === -1 || name.endsWith('callback-url')) continue;
    found[name] = decoded(part.slice(at + 1).trim());
  }
  return found;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function refused(refusal: Refusal, request_id: string): Response {
  logFailure(refusal, request_id, 'next-auth request failed');
  const { type, message, status } = refusal;
  return Response.json({ error: type, code: type, message, request_id }, { status, headers: refusalHeaders(refusal) });
}

import { handle } from '#server/auth/handle.ts';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';

export type Answer = { status: number; body: Record<string, never> & { [key: string]: unknown }; headers: Headers; text: string };

const byte = () => Math.floor(Math.random() * 250);
/** Limits are counted by address, and files of one process share a database. */
export const ownAddress = (): string => `10.${byte()}.${byte()}.${byte()}`;

/** A browser in front of the session plane: keeps cookies, sends Origin and the CSRF token as our pages do. */
export function browser(options: { ip?: string; user_agent?: string } = {}) {
  const jar = new Map<string, string>();
  const ip = options.ip ?? ownAddress();
  let csrf = '';

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string | null> = {}): Promise<Answer> => {
    const given: Record<string, string | null> = {
      'x-sallyport-front': frontDoorToken(rootKeys().current),
      'x-sallyport-request-id': crypto.randomUUID(),
      'x-sallyport-ip': ip,
      'user-agent': options.user_agent ?? 'test browser',
      host: new URL(env.PUBLIC_ADMIN_URL).host,
      ...(jar.size > 0 ? { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') } : {}),
      ...(method === 'GET' ? {} : { origin: new URL(env.PUBLIC_ADMIN_URL).origin, ...(csrf ? { 'x-csrf-token': csrf } : {}) }),
      ...(body === undefined ? {} : { 'content-type': body instanceof Uint8Array ? 'application/octet-stream' : 'application/json' }),
      ...headers,
    };
    const sent = new Headers();
    for (const [name, value] of Object.entries(given)) if (value !== null) sent.set(name, value);
    const init = { method, headers: sent, ...(body === undefined ? {} : { body: asSent(body) }) };
    const response = await handle(new Request(`${env.PUBLIC_ADMIN_URL}${path}`, init));
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {},
    };
  };

  return {
    ip,
    jar,
    call,
    get: (path: string, headers?: Record<string, string | null>) => call('GET', path, undefined, headers),
    post: (path: string, body: unknown = {}, headers?: Record<string, string | null>) => call('POST', path, body, headers),
    /** Reads the CSRF token as a page does when it loads. */
    load: async () => {
      const me = await call('GET', '/auth/me');
      csrf = String(me.body.csrf_token ?? '');
      return me;
    },
  };
}

const asSent = (body: unknown): BodyInit =>
  typeof body === 'string' ? body : body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);

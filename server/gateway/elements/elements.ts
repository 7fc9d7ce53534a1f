import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomBase64url } from '#server/crypto/random.ts';
import type { Space } from '#server/kernel/context.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { codingFor } from '#server/platform/content-coding.ts';
import { type ElementFileName, elementFile } from '#server/platform/element-files.ts';
import type { Snapshots } from '../snapshot/store.ts';
import { cardPage, type FieldPage, refusalPage, revealPage } from './pages.ts';

// `GET /elements/v1/(seal.js, card, reveal)`: the browser library and the hosted fields of interface rule 41 §13, from memory and without web, since pages of
// customers wait for them.

export type ElementsOptions = {
  snapshots: Pick<Snapshots, 'byId' | 'bySlug' | 'fresh'>;
  /** Origins of the API, by space. */
  apiOrigins: Readonly<Record<Space, string>>;
  /** The dashboard shows the fields in a demonstration. */
  adminOrigin: string;
};

export type ElementsCall = { target: string; space: Space; requestId: string; standard: Readonly<Record<string, string>> };

export type Elements = {
  has(path: string): boolean;
  /** Answers a GET or HEAD for a path that it has. */
  serve(req: IncomingMessage, res: ServerResponse, call: ElementsCall): void;
};

export function createElements({ snapshots, apiOrigins, adminOrigin }: ElementsOptions): Elements {
  const style = elementFile('fields.css').plain.toString();
  const endpoints = new Map<string, Endpoint>([
    ['GET /elements/v1/seal.js', file('seal.js')],
    ['GET /elements/v1/card.js', file('card.js')],
    ['GET /elements/v1/reveal.js', file('reveal.js')],
    ['GET /elements/v1/card', field('card.js', (facts, query) => cardPage({ ...facts, keepsName: query.get('keeps') === 'name' }))],
    ['GET /elements/v1/reveal', field('reveal.js', revealPage)],
  ]);

  function field(script: ElementFileName, write: (facts: FieldPage, query: URLSearchParams) => string): Endpoint {
    const path = `/elements/v1/${script}?v=${elementFile(script).version}`;
    return (_, query, { space, standard, requestId }) => {
      const page = query.get('origin') ?? '';
      const ancestors = ancestorsOf(query.get('workspace') ?? '', space, page);
      const nonce = randomBase64url(16);
      const headers = {
        ...standard,
        'x-request-id': requestId,
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policyOf(apiOrigins[space], nonce, ancestors),
      };
      if (ancestors.length === 0) return { status: 403, headers, body: refusalPage({ nonce, style, known: snapshots.fresh }) };
      const facts = { nonce, style, script: path, page, api: apiOrigins[space], theme: themeOf(query.get('theme')) };
      return { status: 200, headers, body: write(facts, query) };
    };
  }

  /** Who may show the field around it: all registered pages, once the page that asks is one of them. A stranger learns no origin that he does not know. */
  function ancestorsOf(workspace: string, space: Space, page: string): readonly string[] {
    const tenant = isUuid(workspace) ? snapshots.byId(workspace) : snapshots.bySlug(workspace);
    if (!tenant) return [];
    if (page === adminOrigin) return [adminOrigin];
    const { elementOrigins } = space === 'test' ? tenant.test : tenant.live;
    return elementOrigins.has(page) ? [...elementOrigins] : [];
  }

  return {
    has: (path) => endpoints.has(`GET ${path}`),
    serve(req, res, call) {
      const mark = call.target.indexOf('?');
      const path = mark === -1 ? call.target : call.target.slice(0, mark);
      const query = new URLSearchParams(mark === -1 ? '' : call.target.slice(mark + 1));
      const answer = endpoints.get(`GET ${path}`)?.(req, query, call);
      if (!answer) return;
      const body = Buffer.from(answer.body ?? '');
      res.writeHead(answer.status, answer.status === 304 ? answer.headers : { ...answer.headers, 'content-length': String(body.length) });
      res.end(req.method === 'HEAD' || answer.status === 304 ? undefined : body);
    },
  };
}

type Endpoint = (req: IncomingMessage, query: URLSearchParams, call: ElementsCall) => Answer;
type Answer = { status: number; headers: Record<string, string>; body: string | Buffer | null };

/** Word for word interface rule 41 §13. */
const policyOf = (api: string, nonce: string, ancestors: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `connect-src ${api}`,
    `style-src 'self' 'nonce-${nonce}'`,
    `frame-ancestors ${ancestors.length > 0 ? ancestors.join(' ') : "'none'"}`,
  ].join('; ');

const themeOf = (theme: string | null): FieldPage['theme'] => (theme === 'light' || theme === 'dark' ? theme : 'auto');

/** One file for any page. With its version in the address it may be kept for a year, without for five minutes. */
function file(name: ElementFileName): Endpoint {
  const file = elementFile(name);
  const etag = `"${file.version}"`;
  return (req, query, { standard, requestId }) => {
    const coding = codingFor(req.headers['accept-encoding']);
    const body = (coding && file[coding]) ?? file.plain;
    const headers = {
      ...standard,
      'x-request-id': requestId,
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': query.get('v') === file.version ? 'public, max-age=31536000, immutable' : 'public, max-age=300, must-revalidate',
      etag,
      vary: 'Accept-Encoding',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    };
    if (req.headers['if-none-match']?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
      return { status: 304, headers, body: null };
    return { status: 200, headers: body === file.plain ? headers : { ...headers, 'content-encoding': coding as string }, body };
  };
}

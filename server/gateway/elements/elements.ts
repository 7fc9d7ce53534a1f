import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SealingBundle } from '#server/crypto/portable/seal.ts';
import { randomBase64url } from '#server/crypto/random.ts';
import { DEFAULT_SEALING_KEY } from '#server/custody/default-key.ts';
import type { Space } from '#server/kernel/context.ts';
import { isKnownTag } from '#server/kernel/entity-tag.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { codingFor } from '#server/platform/content-coding.ts';
import { type ElementFileName, elementFile } from '#server/platform/element-files.ts';
import { log } from '#server/platform/log.ts';
import type { Snapshots } from '../snapshot/store.ts';
import { cardPage, type FieldPage, REFUSALS, refusalPage, revealPage } from './pages.ts';

// `GET /elements/v1/(seal.js, card, reveal)`: the browser library and the hosted fields of interface rule 41 §13, without web, since pages of customers wait
// for them. Everything that decides where a field's value may go is written into its document here: the page around the field chooses none of it.

export type ElementsOptions = {
  snapshots: Pick<Snapshots, 'byId' | 'bySlug' | 'fresh'>;
  /** Origins of the API, by space. */
  apiOrigins: Readonly<Record<Space, string>>;
  /** The dashboard shows the fields in a demonstration. */
  adminOrigin: string;
  /** The public half of a key that seals, by name or ID; null when the space has none. */
  bundleOf: BundleOf;
};

type BundleOf = (space: { tenant_id: string; sandbox: boolean }, key: string) => Promise<SealingBundle | null>;

export type ElementsCall = { target: string; space: Space; requestId: string; standard: Readonly<Record<string, string>> };

export type Elements = {
  has(path: string): boolean;
  /** Answers a GET or HEAD for a path that it has. */
  serve(req: IncomingMessage, res: ServerResponse, call: ElementsCall): void;
};

export function createElements({ snapshots, apiOrigins, adminOrigin, bundleOf }: ElementsOptions): Elements {
  const style = elementFile('fields.css').plain.toString();
  const endpoints = new Map<string, Endpoint>([
    ['GET /elements/v1/seal.js', file('seal.js')],
    ['GET /elements/v1/card.js', file('card.js')],
    ['GET /elements/v1/reveal.js', file('reveal.js')],
    ['GET /elements/v1/card', field('card.js', cardPage, bundleOf)],
    ['GET /elements/v1/reveal', field('reveal.js', revealPage, null)],
  ]);

  /** `sealing` is null for a field that never seals. With a key in its address a card field seals for that key, without it the field takes a client token. */
  function field(script: ElementFileName, write: (facts: FieldPage) => string, sealing: BundleOf | null): Endpoint {
    const path = `/elements/v1/${script}?v=${elementFile(script).version}`;
    return async (_, query, { space, standard, requestId }) => {
      const page = query.get('origin') ?? '';
      const { workspace, ancestors } = admitted(query.get('workspace') ?? '', space, page);
      const nonce = randomBase64url(16);
      const headers = {
        ...standard,
        'x-request-id': requestId,
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policyOf(apiOrigins[space], nonce, ancestors),
      };
      const refused = (status: number, text: string): Answer => ({ status, headers, body: refusalPage({ nonce, style, text }) });
      if (workspace === null) return refused(403, snapshots.fresh ? REFUSALS.unregistered : REFUSALS.starting);
      const key = keyOf(query);
      const found =
        sealing === null || key === null ? null : await foundKey(sealing({ tenant_id: workspace, sandbox: space === 'test' }, key));
      if (found?.status) return refused(found.status, found.status === 404 ? REFUSALS.no_key : REFUSALS.unavailable);
      const bundle = found?.bundle ?? null;
      const facts = { nonce, style, script: path, page, workspace, bundle, api: apiOrigins[space], theme: themeOf(query.get('theme')) };
      return { status: 200, headers, body: write(facts) };
    };
  }

  /**
   * The workspace of the field, and who may show the field around it: all registered pages, once the page that asks is one of them. A stranger learns no
   * origin that they don't know.
   */
  function admitted(ref: string, space: Space, page: string): { workspace: string | null; ancestors: readonly string[] } {
    const tenant = isUuid(ref) ? snapshots.byId(ref) : snapshots.bySlug(ref);
    const ancestors = !tenant ? [] : page === adminOrigin ? [adminOrigin] : registered(tenant[space].elementOrigins, page);
    return { workspace: tenant && ancestors.length > 0 ? tenant.row.id : null, ancestors };
  }

  return {
    has: (path) => endpoints.has(`GET ${path}`),
    serve(req, res, call) {
      const mark = call.target.indexOf('?');
      const path = mark === -1 ? call.target : call.target.slice(0, mark);
      const query = new URLSearchParams(mark === -1 ? '' : call.target.slice(mark + 1));
      void endpoints
        .get(`GET ${path}`)?.(req, query, call)
        .then((answer) => {
          const body = Buffer.from(answer.body ?? '');
          res.writeHead(
            answer.status,
            answer.status === 304 ? answer.headers : { ...answer.headers, 'content-length': String(body.length) },
          );
          res.end(req.method === 'HEAD' || answer.status === 304 ? undefined : body);
        });
    },
  };
}

type Endpoint = (req: IncomingMessage, query: URLSearchParams, call: ElementsCall) => Promise<Answer>;
type Answer = { status: number; headers: Record<string, string>; body: string | Buffer | null };

/** Never rejects: `status` is set where the field can't be shown. */
const foundKey = (asked: Promise<SealingBundle | null>): Promise<{ bundle?: SealingBundle; status?: 404 | 503 }> =>
  asked.then(
    (bundle) => (bundle === null ? { status: 404 } : { bundle }),
    (error: unknown) => {
      log.error({ err: error }, 'cannot read the public key of a hosted field');
      return { status: 503 };
    },
  );

const registered = (origins: ReadonlySet<string>, page: string): readonly string[] => (origins.has(page) ? [...origins] : []);

/** Interface rule 41 §13, and what `default-src` doesn't cover: a form that is sent, and a base that would move the script's address. */
const policyOf = (api: string, nonce: string, ancestors: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `connect-src ${api}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors.length > 0 ? ancestors.join(' ') : "'none'"}`,
  ].join('; ');

/** `keeps=name` is how the library of an earlier release, which pages may keep for a year, asks for a field that seals. It sealed for the default key. */
const keyOf = (query: URLSearchParams): string | null => query.get('key') ?? (query.get('keeps') === 'name' ? DEFAULT_SEALING_KEY : null);

const themeOf = (theme: string | null): FieldPage['theme'] => (theme === 'light' || theme === 'dark' ? theme : 'auto');

/** One file for any page. With its version in the address it may be kept for a year, without for five minutes. */
function file(name: ElementFileName): Endpoint {
  const file = elementFile(name);
  const etag = `"${file.version}"`;
  return async (req, query, { standard, requestId }) => {
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
    if (isKnownTag(req.headers['if-none-match'], etag)) return { status: 304, headers, body: null };
    return { status: 200, headers: body === file.plain ? headers : { ...headers, 'content-encoding': coding as string }, body };
  };
}

import { z } from 'zod';
import { clientUrlProblem } from '#server/domain/oauth-clients/client-url.shared.ts';
import { canonicalRedirectUri, MAX_REDIRECT_URIS, redirectUriProblem } from '#server/domain/oauth-clients/redirect-uris.shared.ts';
import { label } from '#server/kernel/fields.ts';
import { grouped, sizeText } from '#server/kernel/numbers.ts';
import { processState } from '#server/kernel/process-state.ts';
import { openHttp } from '#server/platform/connect/http.ts';
import { documentIn } from '#server/platform/connect/json-document.ts';
import { publicEgress } from '#server/platform/egress.ts';
import type { TlsMaterial } from '#server/platform/http-out/connector.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { Resolver } from '#server/platform/http-out/resolver.ts';

// Documents in which clients describe themselves (interface rule 21 §12): fetched through the guarded transport when a person comes with one, and kept for as
// long as they say. Anybody can name an address, so every look has bounds, and nothing of it is stored before somebody has consented.

/** What counts of such a document. */
export type ClientDocument = { client_id: string; name: string; redirect_uris: string[] };

/** Why a document can't be used. The message is ours: what a stranger's server says may hold anything. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
}

export type DocumentSource = {
  /** The document of a client ID. @throws DocumentFault */
  documentOf(clientId: string, now: Date): Promise<ClientDocument>;
};

const TIMEOUT_MS = 5_000;
const MOST_BYTES = 10 * 1024;
/** A document that says nothing about it is kept this long; one that says so longer at most a day, and never so briefly that each login is a look. */
const FRESH_SEC = { unsaid: 300, least: 10, most: 86_400 };
/** An address that failed is left alone this long. */
const FAILED_MS = 10_000;
const MOST_DOCUMENTS = 1_000;
/** Looks at once: whoever comes then is told to try again. */
const MOST_LOOKS = 20;

type Entry = { until: number; document?: ClientDocument; fault?: DocumentFault };

/** The source of this process. */
export function documentSource(): DocumentSource {
  held.source ??= createDocumentSource(publicEgress());
  return held.source;
}
export const held = processState('client-documents', (): { source?: DocumentSource } => ({}));

/** `tls`: what servers are trusted by beside the public authorities. */
export function createDocumentSource(resolver: Resolver, { tls }: { tls?: TlsMaterial } = {}): DocumentSource {
  const entries = new Map<string, Entry>();
  const pending = new Map<string, Promise<ClientDocument>>();

  return {
    async documentOf(clientId, now) {
      const problem = clientUrlProblem(clientId);
      if (problem) throw new DocumentFault(problem);
      const kept = entries.get(clientId);
      if (kept && kept.until > now.getTime()) {
        if (kept.document) return kept.document;
        throw kept.fault;
      }
      // Whoever asks meanwhile shares the answer.
      const running = pending.get(clientId);
      if (running !== undefined) return running;
      if (pending.size >= MOST_LOOKS)
        throw new DocumentFault('Too many applications are being looked up at the moment. Try again in a minute.');
      const look = fetchDocument(resolver, clientId, tls)
        .then(
          ({ document, seconds }) => {
            keep(clientId, { document, until: now.getTime() + seconds * 1000 });
            return document;
          },
          (error: unknown) => {
            const fault = error instanceof DocumentFault ? error : noDocument(clientId);
            keep(clientId, { fault, until: now.getTime() + FAILED_MS });
            throw fault;
          },
        )
        .finally(() => pending.delete(clientId));
      pending.set(clientId, look);
      return look;
    },
  };

  function keep(clientId: string, entry: Entry): void {
    // The one that was fetched longest ago goes first.
    entries.delete(clientId);
    if (entries.size >= MOST_DOCUMENTS) entries.delete(entries.keys().next().value as string);
    entries.set(clientId, entry);
  }
}

/** Connections are opened for one look and closed after it. No redirect is followed: the address itself must have the document. */
async function fetchDocument(resolver: Resolver, url: string, tls?: TlsMaterial): Promise<{ document: ClientDocument; seconds: number }> {
  const http = openHttp({ resolver, connections: 1, connectTimeoutMs: TIMEOUT_MS });
  try {
    const { status, headers, body } = await http.request({
      ...{ url, tls, tenant: 'client-documents', space: '-', headers: { accept: 'application/json' } },
      ...{ timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES },
    });
    const type = one(headers['content-type']).split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const isJson = status === 200 && /^application\/(?:[\w.+-]+\+)?json$/.test(type);
    const value = isJson ? documentIn(body) : undefined;
    if (!value) throw noDocument(url);
    return { document: readDocument(value, url), seconds: freshSeconds(one(headers['cache-control'])) };
  } catch (error) {
    throw error instanceof UpstreamFault ? noDocument(url) : error;
  } finally {
    await http.close();
  }
}

/** One answer for all that a server may do: the caller isn't signed in, and must not learn which hosts, ports and paths answer. */
const noDocument = (url: string): DocumentFault =>
  new DocumentFault(
    `${hostOf(url)} gave no document that can be used. It must answer with status 200 and a JSON object of at most ${sizeText(MOST_BYTES)}, within ${TIMEOUT_MS / 1000} seconds, without a redirect and from a public address.`,
  );

/** What a document must say of a public client. @throws DocumentFault */
export function readDocument(value: Readonly<Record<string, unknown>>, url: string): ClientDocument {
  const host = hostOf(url);
  // Anybody could copy a document; only its own address makes it one (draft §4.1).
  if (value.client_id !== url) throw new DocumentFault(`The document of ${host} names another client_id than its own address.`);
  const name = label(100).safeParse(value.client_name);
  // Characters without a shape could make one name read like another.
  if (!name.success || /\p{Cf}/u.test(name.data))
    throw new DocumentFault(`The document of ${host} has no client_name of 1 to 100 visible characters.`);
  if ((value.token_endpoint_auth_method ?? 'none') !== 'none')
    throw new DocumentFault(`The document of ${host} asks for client authentication. token_endpoint_auth_method must be none.`);
  if ('client_secret' in value || 'client_secret_expires_at' in value)
    throw new DocumentFault(`The document of ${host} has a client secret, which a public document can't keep.`);
  if (!includes(value.grant_types, 'authorization_code') || !includes(value.response_types, 'code'))
    throw new DocumentFault(`The document of ${host} leaves out the authorization code grant.`);
  const uris = z.array(z.string()).min(1).max(MAX_REDIRECT_URIS).safeParse(value.redirect_uris);
  if (!uris.success) throw new DocumentFault(`The document of ${host} must have 1 to ${grouped(MAX_REDIRECT_URIS)} redirect_uris.`);
  for (const uri of uris.data) {
    const problem = redirectUriProblem(uri, 'public');
    if (problem) throw new DocumentFault(`The document of ${host} has a redirect URI that can't be used. ${problem}`);
  }
  return { client_id: url, name: name.data, redirect_uris: [...new Set(uris.data.map((uri) => canonicalRedirectUri(uri) as string))] };
}

/** An absent list means the default of RFC 7591 §2, which has it. */
const includes = (list: unknown, wanted: string): boolean => list === undefined || (Array.isArray(list) && list.includes(wanted));

/** RFC 9111 §5.2.2, within our own bounds. */
function freshSeconds(cacheControl: string): number {
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return FRESH_SEC.least;
  const [, seconds] = /\bmax-age="?(\d{1,10})/i.exec(cacheControl) ?? [];
  return seconds === undefined ? FRESH_SEC.unsaid : Math.min(Math.max(Number(seconds), FRESH_SEC.least), FRESH_SEC.most);
}

const one = (value: string | string[] | undefined): string => [value ?? ''].flat()[0] ?? '';
const hostOf = (url: string): string => URL.parse(url)?.host ?? 'The host';

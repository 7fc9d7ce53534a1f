import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError, EXIT } from './exit.ts';

/** A listener for the end of a browser login (RFC 8252 §7.3). */
export type Waiting = { redirect_uri: string; state: string; code: Promise<string>; close: () => void };

const PATH = '/callback';
const PATIENCE_MS = 10 * 60_000;

/**
 * Listens on a free loopback port for the answer of `issuer`. What doesn't carry this login's state, or comes by another host name, changes nothing:
 * any page in the browser can send requests here.
 */
export async function awaitCode(issuer: string, signal: AbortSignal): Promise<Waiting> {
  const state = randomBytes(32).toString('base64url');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  promise.catch(() => undefined); // the caller may still be opening the browser
  const server = createServer((req, res) => {
    const query = answerOf(req, state, port);
    const ended = query && outcome(query, issuer);
    res.writeHead(ended === undefined ? 404 : 'code' in ended ? 200 : 400, HEADERS);
    res.end(ended === undefined ? '' : page('code' in ended ? SUCCESS : FAILURE));
    if (ended === undefined) return;
    // After the page is out: the process ends soon after the code is known.
    res.on('close', () => ('code' in ended ? resolve(ended.code) : reject(ended.error)));
  });
  await new Promise<void>((listening, failed) => server.on('error', failed).listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const late = setTimeout(() => reject(new CliError('Nobody signed in within ten minutes.', { code: EXIT.not_signed_in })), PATIENCE_MS);
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return {
    redirect_uri: `http://127.0.0.1:${port}${PATH}`,
    state,
    code: promise,
    close: () => {
      clearTimeout(late);
      signal.removeEventListener('abort', abort);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The query of a request that belongs to this login. */
function answerOf(req: IncomingMessage, state: string, port: number): URLSearchParams | undefined {
  const url = URL.parse(req.url ?? '', `http://127.0.0.1:${port}`);
  if (req.method !== 'GET' || req.headers.host !== `127.0.0.1:${port}` || url?.pathname !== PATH) return undefined;
  const given = Buffer.from(url.searchParams.get('state') ?? '');
  const expected = Buffer.from(state);
  return given.length === expected.length && timingSafeEqual(given, expected) ? url.searchParams : undefined;
}

function outcome(query: URLSearchParams, issuer: string): { code: string } | { error: CliError } {
  const refused = (message: string) => ({ error: new CliError(message, { code: EXIT.not_signed_in }) });
  // RFC 9207: a code of another server would be sent to this one.
  if (query.get('iss') !== issuer)
    return refused(`The answer came from ${query.get('iss') ?? 'nobody'}, not from ${issuer}. Use that address with --host.`);
  const error = query.get('error');
  if (error === 'access_denied') return refused('The login was denied.');
  if (error) return refused(`The login failed: ${query.get('error_description') ?? error}`);
  const code = query.get('code');
  return code ? { code } : refused('The login failed: the answer has no code.');
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};
const SUCCESS = ['You’re signed in', 'Close this page and return to your terminal.'] as const;
const FAILURE = ['You’re not signed in', 'Your terminal says why. Close this page and try again there.'] as const;

const page = ([title, text]: readonly [string, string]) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:28rem;margin:20vh auto;padding:0 1.5rem}h1{font-size:1.25rem}</style></head>
<body><main><h1>${title}</h1><p>${text}</p></main></body></html>`;

import { spaceOf } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { isOwnHost } from '#server/kernel/upstream-url.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { egress } from '#server/platform/egress.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { isOpenPort } from '#server/platform/http-out/open-port.ts';
import type { OutboundResponse } from '#server/platform/http-out/request-out.ts';
import { isRecord } from '../definition.shared.ts';
import { COST, charge, type Meter, TooLarge } from '../expressions/meter.shared.ts';
import { doubleOf } from '../expressions/numbers.shared.ts';
import { answerOf, bodyOf, failedBy, isRetryable, scrubbedAnswer } from './answers.ts';
import {
  evaluatedText,
  failed,
  InvalidConfig,
  type NodeCall,
  type NodeFault,
  type NodeKind,
  type NodeResult,
  textOf,
} from './node-call.ts';
import { SecretFault, type Secrets, secretsFor } from './secrets.ts';

const MOST_BODY = 5 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const REDIRECTS = 5;
const held = processState('workflow-http', (): { http?: OutboundHttp } => ({}));

/** One request to anywhere that the guard lets it go, with the secrets that its config names (interface rule 62 §3.1). */
export const httpRequest: NodeKind = async (call) => {
  const url = urlOf(call);
  const secrets = secretsFor(call, url);
  let built: Request;
  try {
    built = await build(call, url, secrets);
  } catch (error) {
    if (error instanceof SecretFault) return failed(error.fault.code, error.fault.message, { input: { method: call.config.method, url } });
    throw error;
  }
  const { timeoutMs, followRedirects = false } = call.config;
  const blocked = addressProblem(built.url);
  if (blocked) return failed(blocked.code, blocked.message, { input: built.shown });
  held.http ??= openHttp({ connections: 32 });
  try {
    const answer = await held.http.request({
      ...{ url: built.url, method: built.method, headers: built.headers, body: built.body },
      tenant: call.place.tenant_id,
      space: spaceOf(call.place.sandbox),
      timeoutMs: doubleOf(timeoutMs) ?? TIMEOUT_MS,
      maxBytes: MOST_BODY,
      overflow: 'truncate',
      redirects: followRedirects === true ? REDIRECTS : 0,
      credentials: built.secretHeaders,
      signal: call.signal,
      pace: call.pace?.(built.body?.length ?? 0),
    });
    return await resultOf(call, built, await scrubbedAnswer(answer, secrets));
  } catch (error) {
    if (error instanceof SecretFault) return failed(error.fault.code, error.fault.message, { input: built.shown });
    if (error instanceof TooLarge) return failed('state_too_large', error.message, { input: built.shown });
    if (!(error instanceof UpstreamFault) || call.signal.aborted) throw error;
    return failedBy(error, built.shown);
  }
};

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Request = {
  url: string;
  method: Method;
  headers: Record<string, string>;
  body: string | undefined;
  /** Headers that hold a secret: they go to no other origin. */
  secretHeaders: string[];
  /** As it is stored: without secrets. */
  shown: { method: string; url: string; headers: Record<string, string>; body?: unknown };
};

/** @throws Unresolved, InvalidConfig */
function urlOf(call: NodeCall): string {
  const url = evaluatedText(call, call.config.url, true).trim();
  assertUrlLength(url);
  if (!URL.canParse(url)) throw new InvalidConfig('url must be an absolute URL');
  return url;
}

async function build(call: NodeCall, base: string, secrets: Secrets): Promise<Request> {
  const { config, idempotencyKey } = call;
  const method = textOf(config.method).toUpperCase() as Method;
  const headers: Record<string, string> = {};
  const shown: Record<string, string> = {};
  const set = (name: string, sent: string, visible = sent) => {
    if (!HEADER_NAME.test(name) || /[^\t\x20-\x7e]/.test(sent))
      throw new InvalidConfig(`the header ${name.slice(0, 60)} can't be sent as it is`);
    headers[name.toLowerCase()] = sent;
    shown[name.toLowerCase()] = visible;
  };
  for (const [name, text] of isRecord(config.headers) ? Object.entries(config.headers) : []) {
    const { sent, shown: visible } = await secrets.fill(text, true);
    set(name, sent, visible);
  }
  for (const [name, { sent, shown: visible }] of await authHeaders(config.auth, secrets)) set(name, sent, visible);
  const query = await Promise.all(
    (isRecord(config.query) ? Object.entries(config.query) : []).map(async ([name, text]) => [name, await secrets.fill(text)] as const),
  );
  const body = method === 'GET' || method === 'HEAD' ? null : await bodyOf(call, secrets);
  if (body?.type && headers['content-type'] === undefined) set('content-type', body.type);
  if (headers['idempotency-key'] === undefined) set('idempotency-key', idempotencyKey);
  if (headers['user-agent'] === undefined) set('user-agent', 'svc-workflows/1');
  return {
    url: withQuery(
      base,
      query.map(([name, { sent }]) => [name, sent]),
      call.meter,
    ),
    method,
    headers,
    body: body?.sent,
    secretHeaders: Object.keys(headers).filter((name) => headers[name] !== shown[name]),
    shown: {
      method,
      url: withQuery(
        base,
        query.map(([name, { shown: visible }]) => [name, visible]),
        call.meter,
      ),
      headers: shown,
      ...(body ? { body: body.shown } : {}),
    },
  };
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** @throws InvalidConfig, TooLarge */
function withQuery(url: string, pairs: readonly (readonly [string, string])[], meter: Meter): string {
  if (pairs.length === 0) return url;
  for (const [name, value] of pairs) charge(meter, (name.length + value.length) * COST.escape);
  const query = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  const whole = `${url}${url.includes('?') ? '&' : '?'}${query}`;
  assertUrlLength(whole);
  return whole;
}

const LONGEST_URL = 64 * 1024;
function assertUrlLength({ length }: string): void {
  if (length > LONGEST_URL)
    throw new InvalidConfig(`url and query can have at most ${LONGEST_URL} characters together: put large values into the body`);
}

type Pair = { sent: string; shown: string };
async function authHeaders(auth: unknown, secrets: Secrets): Promise<[string, Pair][]> {
  const { type, username, password, token, name, value } = isRecord(auth) ? auth : {};
  const fill = (given: unknown) => secrets.fill(given, true);
  if (type === 'basic') {
    const [user, secret] = [await fill(username), await fill(password)];
    const sent = `Basic ${Buffer.from(`${user.sent}:${secret.sent}`).toString('base64')}`;
    return [['authorization', { sent, shown: `Basic ${user.shown}:${secret.shown}` }]];
  }
  if (type === 'bearer') {
    const { sent, shown } = await fill(token);
    return [['authorization', { sent: `Bearer ${sent}`, shown: `Bearer ${shown}` }]];
  }
  return type === 'header' ? [[textOf(name), await fill(value)]] : [];
}

/**
 * What can be told without a connection: our own addresses, by which a run could start itself for ever, and ports of services that are no web servers; the
 * operator's test hosts are exempt from those. The address itself is judged when the connection is made.
 */
function addressProblem(url: string): NodeFault | null {
  const { protocol, port, hostname } = new URL(url);
  const { ownHosts, testHosts } = egress().settings;
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  if (isOwnHost(hostname.toLowerCase(), number, ownHosts))
    return { code: 'recursion_blocked', message: `${hostname} is this service itself. Call routes with a route request.` };
  if (isOpenPort(protocol.slice(0, -1), number) || testHosts.has(`${hostname}:${number}`)) return null;
  return { code: 'blocked_address', message: `The port ${number} of ${hostname} can't be used.` };
}

async function resultOf({ config }: NodeCall, { shown }: Request, response: OutboundResponse): Promise<NodeResult> {
  const output = await answerOf(response, shown.url, shown.method);
  const more = { input: shown, truncated: response.truncated };
  if (config.failOnStatus === false || response.status < 400) return { status: 'succeeded', output, handles: ['out'], ...more };
  const retry = isRetryable(response);
  return failed('http_status', `The server answered with status ${response.status}.`, { ...more, output, ...(retry ? { retry } : {}) });
}

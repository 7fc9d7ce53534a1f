import { digest } from '#server/crypto/tokens.ts';
import { signAwsRequest } from '#server/crypto/upstream-auth/aws-sigv4.ts';
import { signBearerJwt, UnusableMaterial } from '#server/crypto/upstream-auth/bearer-jwt.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { createRequestOut, type OutboundResponse } from '#server/platform/http-out/request-out.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { AiCall } from '../ai-call.ts';

// Credentials that stored ones are exchanged for. Kept in memory until five minutes before they end, by workspace and by the digest of what they were made of:
// a secret that changes is exchanged anew.

/** Says why there is no credential, without any part of one. */
export class CredentialRefused extends Error {
  override readonly name = 'CredentialRefused';
}

const MARGIN_MS = 300_000;
/** A failure isn't asked again by every call. */
const FAILED_MS = 5_000;
const MOST_KEPT = 1_000;
const LIFE_SECONDS = 3_600;

type Made<T> = { value: T; until: number };
type Entry = { made: Promise<Made<unknown>>; until: number };
const kept = new Map<string, Entry>();

/** Calls that need the same exchange at once share it. */
function once<T>(key: string, make: () => Promise<Made<T>>): Promise<T> {
  const known = kept.get(key);
  if (known && known.until > Date.now()) return known.made.then(({ value }) => value as T);
  const [oldest] = kept.keys();
  if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  const made = make();
  const entry: Entry = { made, until: Date.now() + 60_000 };
  kept.set(key, entry);
  return made.then(
    ({ value, until }) => {
      entry.until = until - MARGIN_MS;
      return value;
    },
    (error: unknown) => {
      entry.until = Date.now() + FAILED_MS;
      throw error;
    },
  );
}

const keyFor = ({ snapshot }: AiCall, parts: readonly string[]): string =>
  digest(JSON.stringify([snapshot.tenant.id, snapshot.space, ...parts])).toString('base64');

export type ServiceAccount = { client_email: string; private_key: string; token_uri: string };

/** An access token of a Google service account (RFC 7523). @throws CredentialRefused */
export function googleToken(call: AiCall, runtime: Runtime, { client_email, private_key, token_uri }: ServiceAccount): Promise<string> {
  return once(keyFor(call, ['google', client_email, private_key, token_uri]), async () => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      iss: client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: token_uri,
      iat,
      exp: iat + LIFE_SECONDS,
    };
    const assertion = signed(private_key, claims);
    const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString();
    const { status, body: answer } = await ask(call, runtime, 'Google', token_uri, { 'content-type': FORM }, body);
    const told = status === 200 ? parsed(answer) : undefined;
    const token = told?.access_token;
    if (typeof token !== 'string' || !/^[\x21-\x7e]{10,8192}$/.test(token))
      throw new CredentialRefused(`Google gave no access token for the service account of this route (status ${status}).`);
    const seconds = Number(told?.expires_in);
    return { value: token, until: Date.now() + (seconds > 0 && seconds <= LIFE_SECONDS ? seconds : LIFE_SECONDS) * 1000 };
  });
}

function signed(key: string, claims: Record<string, unknown>): string {
  try {
    return signBearerJwt(key, 'RS256', claims);
  } catch (error) {
    if (error instanceof UnusableMaterial)
      throw new CredentialRefused(`The private key of the service account of this route ${error.message}.`);
    throw error;
  }
}

export type RoleToAssume = {
  access_key_id: string;
  secret_access_key: string;
  session_token?: string | undefined;
  role_arn: string;
  region: string;
  sts_endpoint_url?: string | undefined;
};
export type AssumedRole = { access_key_id: string; secret_access_key: string; session_token: string };

/** Temporary credentials of a role, whose trust policy can name the workspace's ID as the external ID. @throws CredentialRefused */
export function assumedRole(call: AiCall, runtime: Runtime, role: RoleToAssume): Promise<AssumedRole> {
  const { role_arn, region, access_key_id, secret_access_key, session_token = '' } = role;
  const url = new URL(role.sts_endpoint_url ?? `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`);
  return once(keyFor(call, ['aws', role_arn, url.href, access_key_id, secret_access_key, session_token]), async () => {
    const body = new URLSearchParams({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: role_arn,
      RoleSessionName: 'ai-gateway',
      ExternalId: call.snapshot.tenant.id,
      DurationSeconds: String(LIFE_SECONDS),
    }).toString();
    const request = {
      method: 'POST',
      target: url.pathname,
      host: url.host,
      headers: ['Host', url.host, 'Content-Type', FORM],
      body: Buffer.from(body),
    };
    const { headers } = signAwsRequest(request, { region, service: 'sts' }, role, new Date());
    const own: Record<string, string> = { 'content-type': FORM };
    for (let i = 0; i < headers.length; i += 2) own[(headers[i] as string).toLowerCase()] = headers[i + 1] as string;
    const { status, body: answer } = await ask(call, runtime, 'AWS', url.href, own, body);
    const text = answer.toString('utf8');
    const [id, secret, token] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map((name) => elementIn(text, name));
    if (status !== 200 || !id || !secret || !token)
      throw new CredentialRefused(`AWS didn't let the credentials of this route assume its role (status ${status}).`);
    const end = Date.parse(elementIn(text, 'Expiration') ?? '');
    return {
      value: { access_key_id: id, secret_access_key: secret, session_token: token },
      until: Number.isFinite(end) ? end : Date.now() + LIFE_SECONDS * 1000,
    };
  });
}

const FORM = 'application/x-www-form-urlencoded';

/** The text of an element that holds nothing but text. */
function elementIn(xml: string, name: string): string | undefined {
  const from = xml.indexOf(`<${name}>`);
  const to = from < 0 ? -1 : xml.indexOf(`</${name}>`, from);
  return to < 0 ? undefined : xml.slice(from + name.length + 2, to).trim();
}

async function ask(
  { snapshot }: AiCall,
  runtime: Runtime,
  who: string,
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<OutboundResponse> {
  try {
    const request = createRequestOut(runtime.pools, runtime.resolver.settings);
    return await request({
      url,
      method: 'POST',
      headers,
      body,
      timeoutMs: 10_000,
      maxBytes: 64 * 1024,
      tenant: snapshot.tenant.id,
      space: snapshot.space,
    });
  } catch (error) {
    if (error instanceof UpstreamFault)
      throw new CredentialRefused(`${who} couldn't be asked for a credential of this route (${error.type}).`);
    throw error;
  }
}

function parsed(bytes: Buffer): { access_token?: unknown; expires_in?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

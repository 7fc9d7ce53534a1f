import { GoogleAuth } from 'google-auth-library';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type OutboundHttp, openHttp } from '../connect/http.ts';
import { env } from '../env.ts';
import { UpstreamFault } from '../http-out/faults.ts';
import { MOST_ANSWER_BYTES } from './answer-limit.ts';
import { bindingText, KmsFailure, type KmsProvider } from './kms.ts';

type Send = (request: {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}) => Promise<{ status: number; body: Buffer }>;
/** Asks a key for its encryption or decryption over REST: texts are base64. @throws KmsFailure, or an error with what the service answered */
type Client = (action: 'encrypt' | 'decrypt', key: string, input: Record<string, string>) => Promise<Record<string, string | undefined>>;

const clients = processState('kms-gcp', () => new Map<string, Promise<Client>>());
const open = processState('kms-gcp-http', (): { http?: OutboundHttp } => ({}));
const LIMIT = 500;
const IMPERSONATION = 'https://iamcredentials.googleapis.com';
const KMS = 'https://cloudkms.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/cloudkms';
const SESSION_SECONDS = 900;

/**
 * Google Cloud KMS: the operator's own identity impersonates the customer's service account. Both calls go through the guard, to two hosts and no other; only the
 * operator's token comes from where the operator's environment says, which is the metadata server of the machine as a rule.
 */
export const gcp: KmsProvider = {
  async wrap(place, binding, key) {
    const kms = await client(place, binding.tenantId);
    const { ciphertext, name } = await kms('encrypt', place.key_ref, { plaintext: base64(key), ...boundTo(binding) });
    if (!ciphertext) throw new KmsFailure('access_denied', 'EmptyAnswer');
    return { blob: bytesOf(ciphertext), key_version: name ?? null };
  },

  async unwrap(place, binding, blob) {
    const kms = await client(place, binding.tenantId);
    const { plaintext } = await kms('decrypt', place.key_ref, { ciphertext: base64(blob), ...boundTo(binding) });
    if (!plaintext) throw new KmsFailure('access_denied', 'EmptyAnswer');
    return bytesOf(plaintext);
  },

  refusalOf(error) {
    const { code, status, response } = error as { code?: unknown; status?: unknown; response?: { status?: unknown } };
    // Ours has the status and, as its code, the name of the refusal; the library that gets the operator's token has either.
    const http = [status, response?.status, code].find((n): n is number => typeof n === 'number' && n >= 100);
    if (http === undefined || http >= 500 || http === 429) return undefined;
    return typeof code === 'string' && REFUSALS.has(code) ? code : `HTTP ${http}`;
  },

  forget: () => clients.clear(),
};

const TIMEOUT_MS = 3_000;
/** Tokens are replaced a minute before their end (interface rule 31 §8). */
const EARLY_MS = 60_000;
const REFUSALS: ReadonlySet<string> = new Set([
  'FAILED_PRECONDITION',
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
]);

const base64 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
const boundTo = (binding: Parameters<typeof bindingText>[0]) => ({
  additionalAuthenticatedData: Buffer.from(bindingText(binding)).toString('base64'),
});

/** One client per workspace and service account, because it holds the token. */
function client({ config, key_ref }: KmsPlace, tenantId: string): Promise<Client> {
  const name = JSON.stringify([tenantId, config.impersonate_service_account, config.project_id]);
  const known = clients.get(name);
  if (known !== undefined) return known;
  if (clients.size >= LIMIT) clients.clear();
  const made = connect(config, key_ref, tenantId);
  clients.set(name, made);
  made.catch(() => clients.delete(name));
  return made;
}

async function connect(config: KmsPlace['config'], keyRef: string, tenantId: string): Promise<Client> {
  const test = env.KMS_TEST_GCP_URL;
  const projectId = config.project_id ?? keyRef.split('/')[1] ?? '';
  // The project is known, so that nothing looks for it on this machine.
  const operator = await new GoogleAuth({ scopes: ['https://www.googleapis.com/auth/cloud-platform'], projectId }).getClient();
  const send = guardedSend(tenantId, test === undefined ? [IMPERSONATION, KMS] : [new URL(test).origin]);
  const access = impersonated(
    test ?? IMPERSONATION,
    config.impersonate_service_account ?? '',
    send,
    async () => (await operator.getAccessToken()).token,
  );
  return async (action, key, input) => {
    const answer = await send({
      url: `${test ?? KMS}/v1/${key}:${action}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await access()}` },
      body: JSON.stringify(input),
    });
    try {
      const found = JSON.parse(answer.body.toString('utf8'));
      if (answer.status === 200) return found;
      throw Object.assign(new Error('Cloud KMS refused'), { status: answer.status, code: found.error?.status });
    } catch (error) {
      // A body that isn't JSON: what a proxy says, or nothing.
      throw error instanceof SyntaxError ? Object.assign(new Error('no answer of Cloud KMS'), { status: answer.status }) : error;
    } finally {
      answer.body.fill(0);
    }
  };
}

/** Sends to these origins alone. What never became an answer has the fault's type as its `code`. */
function guardedSend(tenant: string, origins: readonly string[]): Send {
  return async (request) => {
    if (!origins.includes(URL.parse(request.url)?.origin ?? '')) throw new KmsFailure('access_denied', 'ForeignHost');
    open.http ??= openHttp({ connections: 2, connectTimeoutMs: TIMEOUT_MS });
    try {
      const bounds = { timeoutMs: TIMEOUT_MS, maxBytes: MOST_ANSWER_BYTES };
      return await open.http.request({ ...request, ...bounds, method: 'POST', tenant, space: 'live' });
    } catch (error) {
      throw error instanceof UpstreamFault ? Object.assign(new Error(error.message, { cause: error }), { code: error.type }) : error;
    }
  };
}

/** Access tokens of a service account, for which somebody else's are given. Calls at the same time wait for one. */
function impersonated(
  base: string,
  account: string,
  send: Send,
  operator: () => Promise<string | null | undefined>,
): () => Promise<string> {
  let held: { token: string; until: number } | undefined;
  let pending: Promise<string> | undefined;
  const fetch = async (): Promise<string> => {
    const answer = await send({
      url: `${base}/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await operator()}` },
      body: JSON.stringify({ delegates: [], scope: [SCOPE], lifetime: `${SESSION_SECONDS}s` }),
    });
    if (answer.status !== 200) throw Object.assign(new Error('no token of the service account'), { status: answer.status });
    const { accessToken, expireTime } = JSON.parse(answer.body.toString('utf8')) as { accessToken?: string; expireTime?: string };
    answer.body.fill(0);
    if (!accessToken) throw new KmsFailure('access_denied', 'EmptyAnswer');
    held = { token: accessToken, until: (Date.parse(expireTime ?? '') || Date.now()) - EARLY_MS };
    return accessToken;
  };
  return async () => {
    if (held && held.until > Date.now()) return held.token;
    pending ??= fetch().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

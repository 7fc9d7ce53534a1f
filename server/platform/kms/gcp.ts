import { KeyManagementServiceClient } from '@google-cloud/kms';
import { GoogleAuth } from 'google-auth-library';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type GoogleSend, googleAuth } from '../connect/google-auth.ts';
import { type OutboundHttp, openHttp } from '../connect/http.ts';
import { env } from '../env.ts';
import { UpstreamFault } from '../http-out/faults.ts';
import { bindingText, KmsFailure, type KmsProvider } from './kms.ts';

const clients = processState('kms-gcp', () => new Map<string, Promise<KeyManagementServiceClient>>());
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
    const [answer] = await kms.encrypt(
      { name: place.key_ref, plaintext: key, additionalAuthenticatedData: Buffer.from(bindingText(binding)) },
      NO_RETRY,
    );
    if (!answer.ciphertext) throw new KmsFailure('access_denied', 'EmptyAnswer');
    return { blob: new Uint8Array(bytesOf(answer.ciphertext)), key_version: answer.name ?? null };
  },

  async unwrap(place, binding, blob) {
    const kms = await client(place, binding.tenantId);
    const [answer] = await kms.decrypt(
      { name: place.key_ref, ciphertext: blob, additionalAuthenticatedData: Buffer.from(bindingText(binding)) },
      NO_RETRY,
    );
    if (!answer.plaintext) throw new KmsFailure('access_denied', 'EmptyAnswer');
    return bytesOf(answer.plaintext);
  },

  refusalOf(error) {
    const { code, status, response } = error as { code?: unknown; status?: unknown; response?: { status?: unknown } };
    // gRPC codes of Cloud KMS; the token endpoints answer HTTP statuses.
    const http = [status, response?.status, code].find((n): n is number => typeof n === 'number' && n >= 100);
    if (http !== undefined) return http >= 500 || http === 429 ? undefined : (HTTP[http] ?? `HTTP ${http}`);
    return typeof code === 'number' ? REFUSED[code] : undefined;
  },

  forget: () => clients.clear(),
};

const TIMEOUT_MS = 3_000;
const NO_RETRY = { timeout: TIMEOUT_MS, retry: null };
/** Tokens are replaced a minute before their end (interface rule 31 §8). */
const EARLY_MS = 60_000;
const HTTP: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  400: 'INVALID_ARGUMENT',
};
const REFUSED: Readonly<Record<number, string>> = {
  3: 'INVALID_ARGUMENT',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  9: 'FAILED_PRECONDITION',
  16: 'UNAUTHENTICATED',
};

const bytesOf = (value: Uint8Array | string): Uint8Array => (typeof value === 'string' ? Buffer.from(value, 'base64') : value);

/** One client per workspace and service account, because it holds the token. */
function client({ config, key_ref }: KmsPlace, tenantId: string): Promise<KeyManagementServiceClient> {
  const name = JSON.stringify([tenantId, config.impersonate_service_account, config.project_id]);
  const known = clients.get(name);
  if (known !== undefined) return known;
  if (clients.size >= LIMIT) clients.clear();
  const made = connect(config, key_ref, tenantId);
  clients.set(name, made);
  made.catch(() => clients.delete(name));
  return made;
}

async function connect(config: KmsPlace['config'], keyRef: string, tenantId: string): Promise<KeyManagementServiceClient> {
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
  return new KeyManagementServiceClient({
    // REST: gRPC would bring native sockets and a second HTTP stack into every process that unwraps a key.
    fallback: true,
    authClient: googleAuth(send, access) as never,
    projectId,
    ...(test === undefined ? {} : endpointOf(test)),
  });
}

/** Sends to these origins alone. What never became an answer has the fault's type as its `code`. */
function guardedSend(tenant: string, origins: readonly string[]): GoogleSend {
  return async (request) => {
    if (!origins.includes(URL.parse(request.url)?.origin ?? '')) throw new KmsFailure('access_denied', 'ForeignHost');
    open.http ??= openHttp({ connections: 2, connectTimeoutMs: TIMEOUT_MS });
    try {
      return await open.http.request({ ...request, tenant, space: 'live', timeoutMs: TIMEOUT_MS });
    } catch (error) {
      throw error instanceof UpstreamFault ? Object.assign(new Error(error.message, { cause: error }), { code: error.type }) : error;
    }
  };
}

/** Access tokens of a service account, for which somebody else's are given. Calls at the same time wait for one. */
function impersonated(
  base: string,
  account: string,
  send: GoogleSend,
  operator: () => Promise<string | null | undefined>,
): () => Promise<string> {
  let held: { token: string; until: number } | undefined;
  let pending: Promise<string> | undefined;
  const fetch = async (): Promise<string> => {
    const answer = await send({
      url: `${base}/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
      method: 'POST',
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

function endpointOf(url: string) {
  const { hostname, port, protocol } = new URL(url);
  return { apiEndpoint: hostname, port: Number(port), protocol: protocol.slice(0, -1) };
}

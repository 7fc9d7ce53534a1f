import { KeyManagementServiceClient } from '@google-cloud/kms';
import { GoogleAuth, Impersonated } from 'google-auth-library';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { processState } from '#server/kernel/process-state.ts';
import { env } from '../env.ts';
import { bindingText, KmsFailure, type KmsProvider } from './kms.ts';

const clients = processState('kms-gcp', () => new Map<string, Promise<KeyManagementServiceClient>>());
const LIMIT = 500;
const SCOPE = 'https://www.googleapis.com/auth/cloudkms';
const SESSION_SECONDS = 900;

/** Google Cloud KMS: the operator's own identity impersonates the customer's service account. */
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

const NO_RETRY = { timeout: 3_000, retry: null };
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
  const made = connect(config, key_ref);
  clients.set(name, made);
  made.catch(() => clients.delete(name));
  return made;
}

async function connect(config: KmsPlace['config'], keyRef: string): Promise<KeyManagementServiceClient> {
  const test = env.KMS_TEST_GCP_URL;
  const sourceClient = await new GoogleAuth({
    scopes: ['https://www.googleapis.com/auth/cloud-platform'],
    // Known, so that nothing looks for it on this machine.
    projectId: config.project_id ?? keyRef.split('/')[1] ?? '',
  }).getClient();
  const authClient = new Impersonated({
    sourceClient,
    targetPrincipal: config.impersonate_service_account ?? '',
    targetScopes: [SCOPE],
    delegates: [],
    lifetime: SESSION_SECONDS,
    ...(test === undefined ? {} : { endpoint: test }),
  });
  return new KeyManagementServiceClient({
    // REST: gRPC would bring native sockets and a second HTTP stack into every process that unwraps a key.
    fallback: true,
    authClient: authClient as never,
    projectId: config.project_id ?? keyRef.split('/')[1] ?? '',
    ...(test === undefined ? {} : endpointOf(test)),
  });
}

function endpointOf(url: string) {
  const { hostname, port, protocol } = new URL(url);
  return { apiEndpoint: hostname, port: Number(port), protocol: protocol.slice(0, -1) };
}

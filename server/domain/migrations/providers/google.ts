import { jsonOf, type StoreHttp } from './http.ts';
import { type Cursor, type Provider, ProviderFault, type SourceEntry, TooLarge, VALUE_BYTES } from './provider.ts';
import { watchedHttp } from './watched-http.ts';

export type GoogleGrant = {
  project_number: string;
  pool: string;
  pool_provider: string;
  service_account_email: string;
  project_ids: readonly string[];
};

type Position = { project: number; token?: string };
/** What we read of a list of secrets and of a version, as the REST API has them. */
type Secrets = {
  secrets?: readonly { name?: string; createTime?: string; labels?: Record<string, string> }[];
  nextPageToken?: string;
};
type Version = { name?: string; payload?: { data?: string } };

const STS = 'sts.googleapis.com';
const IMPERSONATION = 'iamcredentials.googleapis.com';
const STORE = 'secretmanager.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const PAGE = 100;

/** The provider of the customer's pool; with `https:` before it, the audience that a provider wants of tokens unless it was told another. */
const providerOf = ({ project_number, pool, pool_provider }: GoogleGrant) =>
  `//iam.googleapis.com/projects/${project_number}/locations/global/workloadIdentityPools/${pool}/providers/${pool_provider}`;
export const googleAudience = (grant: GoogleGrant) => `https:${providerOf(grant)}`;

/**
 * Google Secret Manager over REST: our token is exchanged for one of the customer's pool, and that for one of the service account.
 */
export function google(grant: GoogleGrant, subjectToken: () => Promise<string>, http: StoreHttp): Provider {
  const { send, answered } = watchedHttp(http, {
    who: 'Google Cloud',
    allows: (host) => host === STS || host === IMPERSONATION || host === STORE,
    issues: (host) => host === STS || host === IMPERSONATION,
    untrusted:
      'Google Cloud did not accept our token. Check issuer, audience and attribute mapping of the workload identity provider, and that our subject may impersonate the service account.',
  });
  const access = accessOf(grant, subjectToken, send);
  const read = async <T>(path: string, signal?: AbortSignal): Promise<T> => {
    const answer = await send({ url: `https://${STORE}/v1/${path}`, headers: { authorization: `Bearer ${await access()}` }, signal });
    const found = answer.status === 200 ? jsonOf<T>(answer) : undefined;
    answer.body.fill(0);
    if (!found) throw new Error(`no answer of the store: status ${answer.status}`);
    return found;
  };

  const page = async ({ project, token }: Position, signal?: AbortSignal) => {
    const query = new URLSearchParams({ pageSize: String(PAGE), ...(token === undefined ? {} : { pageToken: token }) });
    const { secrets = [], nextPageToken: more } = await read<Secrets>(`projects/${grant.project_ids[project]}/secrets?${query}`, signal);
    const entries = secrets.map(
      ({ name: ref = '', createTime, labels = {} }): SourceEntry => ({
        ...{ ref, name: ref.slice(ref.lastIndexOf('/') + 1), version: null, region: '' },
        ...{ updated_at: createTime ? new Date(createTime) : null, tags: labels },
      }),
    );
    const next: Position | null = more
      ? { project, token: more }
      : project + 1 < grant.project_ids.length
        ? { project: project + 1 }
        : null;
    return { entries, next };
  };

  return {
    probe: () =>
      answered(async () => {
        for (const project of grant.project_ids.keys()) await page({ project });
      }),
    list: (cursor, signal) =>
      answered(async () => {
        signal.throwIfAborted();
        const { entries, next } = await page((cursor as Position | null) ?? { project: 0 }, signal);
        return { entries, next: next as Cursor | null };
      }),
    readValue: async ({ ref }, signal) => {
      signal.throwIfAborted();
      const found = await answered(() => read<Version>(`${ref}/versions/latest:access`, signal)).catch((error: unknown) => {
        // FAILED_PRECONDITION: the latest version is disabled or destroyed.
        if (error instanceof ProviderFault && error.reason === 'misconfigured')
          throw new ProviderFault('not_found', 'The latest version is disabled or destroyed.', { cause: error.cause });
        throw error;
      });
      const bytes = Buffer.from(found.payload?.data ?? '', 'base64');
      if (bytes.byteLength > VALUE_BYTES) {
        bytes.fill(0);
        throw new TooLarge();
      }
      return { version: found.name?.split('/').at(-1) ?? '', bytes, binary: false };
    },
    close: () => http.close(),
  };
}

/** Access tokens of the service account: our token becomes one of the pool (RFC 8693), and that one of the account. Each is used until a minute before its end. */
function accessOf(grant: GoogleGrant, subjectToken: () => Promise<string>, send: StoreHttp['send']): () => Promise<string> {
  let held: { token: string; until: number } | undefined;
  const post = async <T>(url: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await send({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const found = answer.status === 200 ? jsonOf<T>(answer) : undefined;
    answer.body.fill(0);
    if (!found) throw new Error(`no token: status ${answer.status}`);
    return found;
  };
  return async () => {
    if (held && held.until > Date.now()) return held.token;
    const pool = await post<{ access_token?: string }>(`https://${STS}/v1/token`, {
      audience: providerOf(grant),
      grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
      scope: SCOPE,
      subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
      subjectToken: await subjectToken(),
    });
    const account = await post<{ accessToken?: string; expireTime?: string }>(
      `https://${IMPERSONATION}/v1/projects/-/serviceAccounts/${grant.service_account_email}:generateAccessToken`,
      { scope: [SCOPE] },
      { authorization: `Bearer ${pool.access_token}` },
    );
    if (!account.accessToken) throw new Error('no token of the service account');
    held = { token: account.accessToken, until: (Date.parse(account.expireTime ?? '') || Date.now()) - 60_000 };
    return held.token;
  };
}

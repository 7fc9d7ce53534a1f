import { parseLossless } from '#server/kernel/bounded-text.ts';
import { trimEnd } from '#server/kernel/trim-end.ts';
import { jsonOf, refusalOf, type StoreHttp } from './http.ts';
import { type Cursor, type Provider, ProviderFault, type SourceEntry, TooLarge, VALUE_BYTES } from './provider.ts';

export type VaultGrant = { address: string; mounts: readonly string[]; path_prefixes: readonly string[] };
/** Kept sealed for the worker. */
export type VaultAuth = { token: string } | { role: string; mount: string; jwt: () => Promise<string> };

type Position = {
  mount: number /** Folders still to list, the next one last. */;
  folders: readonly string[] /** Folders listed. */;
  listed: number;
};

/** What a tree of folders may be: its store is the caller's, and may make up folders without an end. */
const MOST_FOLDERS = 20_000;
const LONGEST_PATH = 1_024;
const MOST_WAITING_CHARACTERS = 1024 * 1024;

/**
 * HashiCorp Vault and OpenBao: the current versions of KV secrets, version 1 and 2. A folder is one page; Vault lists it whole.
 * A secret with one field named `value` is that text, any other its fields as JSON.
 */
export function vault(grant: VaultGrant, auth: VaultAuth, http: StoreHttp): Provider {
  const base = trimEnd(grant.address, '/');
  let token = 'token' in auth ? Promise.resolve(auth.token) : undefined;
  const kinds = new Map<string, 1 | 2>();

  const tokenOf = (): Promise<string> => {
    if (token !== undefined) return token;
    const next = login('jwt' in auth ? auth : undefined);
    token = next;
    next.catch(() => {
      token = undefined;
    });
    return next;
  };

  const call = async (method: 'GET' | 'POST', path: string, signal?: AbortSignal, body?: object) =>
    http.send({
      url: `${base}/v1/${path}`,
      method,
      headers: {
        'x-vault-token': await tokenOf(),
        'x-vault-request': 'true',
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    });

  const login = async (how: Extract<VaultAuth, { role: string }> | undefined): Promise<string> => {
    if (!how) throw new ProviderFault('misconfigured', 'The grant has no way to sign in to Vault.');
    const answer = await http.send({
      url: `${base}/v1/auth/${pathOf(how.mount)}/login`,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-vault-request': 'true' },
      body: JSON.stringify({ role: how.role, jwt: await how.jwt() }),
    });
    const found = jsonOf<{ auth?: { client_token?: string } }>(answer)?.auth?.client_token;
    if (answer.status === 400) throw new ProviderFault('access_denied', "Vault didn't accept the token for this role.");
    if (answer.status !== 200 || !found) throw refusalOf(answer, 'Signing in');
    return found;
  };

  /** Whether a mount keeps versions; its own answer, since reading the list of mounts is a wider right. */
  const kindOf = async (mount: string, signal?: AbortSignal): Promise<1 | 2> => {
    const known = kinds.get(mount);
    if (known) return known;
    const answer = await call('GET', `sys/internal/ui/mounts/${pathOf(mount)}`, signal);
    if (answer.status !== 200) throw refusalOf(answer, `The mount ${mount}`);
    const data = jsonOf<{ data?: { type?: string; options?: { version?: string } | null } }>(answer)?.data;
    if (data?.type !== 'kv' && data?.type !== 'generic')
      throw new ProviderFault('misconfigured', `The mount ${mount} is no key-value store.`);
    const kind = data.options?.version === '2' ? 2 : 1;
    kinds.set(mount, kind);
    return kind;
  };

  const start = (mount: number, listed = 0): Position => {
    const wanted = [...new Set(grant.path_prefixes.map(folderOf))];
    return { mount, folders: wanted.length > 0 ? wanted.reverse() : [''], listed };
  };

  const page = async (position: Position, signal: AbortSignal) => {
    const mount = grant.mounts[position.mount] as string;
    const folder = position.folders.at(-1) ?? '';
    const kind = await kindOf(mount, signal);
    const answer = await call('GET', `${pathOf(mount)}/${kind === 2 ? 'metadata/' : ''}${pathOf(folder)}?list=true`, signal);
    if (answer.status !== 200 && answer.status !== 404) throw refusalOf(answer, `The folder ${mount}/${folder}`);
    const keys = answer.status === 404 ? [] : (jsonOf<{ data?: { keys?: string[] } }>(answer)?.data?.keys ?? []);
    const inside = (path: string) =>
      grant.path_prefixes.length === 0 ||
      grant.path_prefixes.some((prefix) => path.startsWith(prefix) || (path.endsWith('/') && prefix.startsWith(path)));
    const paths = keys.map((key) => `${folder}${key}`).filter(inside);
    const rest = [...position.folders.slice(0, -1), ...paths.filter((path) => path.endsWith('/')).reverse()];
    const listed = (position.listed ?? 0) + 1;
    const waiting = rest.reduce((sum, path) => sum + path.length + 3, 0);
    if (listed > MOST_FOLDERS || waiting > MOST_WAITING_CHARACTERS || paths.some((path) => path.length > LONGEST_PATH))
      throw new ProviderFault(
        'misconfigured',
        `The mount ${mount} has more or longer folders than a migration can read. Narrow it down with path prefixes.`,
      );
    const next: Position | null =
      rest.length > 0
        ? { mount: position.mount, folders: rest, listed }
        : position.mount + 1 < grant.mounts.length
          ? start(position.mount + 1, listed)
          : null;
    const entries = paths
      .filter((path) => !path.endsWith('/'))
      .map((path): SourceEntry => ({ ref: `${mount}/${path}`, name: path, version: null, region: '', updated_at: null, tags: {} }));
    return { entries, next };
  };

  return {
    async probe(signal) {
      for (const mount of grant.mounts) await kindOf(mount, signal);
      await page(start(0), signal ?? new AbortController().signal);
    },
    async list(cursor, signal) {
      const { entries, next } = await page((cursor as Position | null) ?? start(0), signal);
      return { entries, next: next as Cursor | null };
    },
    async readValue({ ref, name }, signal) {
      const mount = ref.slice(0, ref.length - name.length - 1);
      const kind = await kindOf(mount, signal);
      const answer = await call('GET', `${pathOf(mount)}/${kind === 2 ? 'data/' : ''}${pathOf(name)}`, signal);
      if (answer.status !== 200) throw refusalOf(answer, 'The secret');
      const body = losslessOf(answer.body)?.data;
      const versioned = body as { data?: Record<string, unknown> | null; metadata?: { version?: number } } | undefined;
      const fields = kind === 2 ? versioned?.data : body;
      if (!body) throw new ProviderFault('misconfigured', 'Vault answered with something else than the fields of a secret.');
      if (!fields) throw new ProviderFault('not_found', 'The current version is deleted.');
      const version = kind === 2 ? String(versioned?.metadata?.version ?? '') : '';
      const only = Object.keys(fields).length === 1 ? fields.value : undefined;
      const bytes = Buffer.from(typeof only === 'string' ? only : JSON.stringify(fields), 'utf8');
      answer.body.fill(0);
      if (bytes.byteLength > VALUE_BYTES) throw new TooLarge();
      return { version, bytes, binary: false };
    },
    async close() {
      // What we signed in for ourselves ends with us, so that no lease waits at the store for its time.
      if ('jwt' in auth && token !== undefined) await call('POST', 'auth/token/revoke-self').catch(() => {});
      await http.close();
    },
  };
}

/** Unwraps a response-wrapping token, which works once, and answers the token inside. @throws ProviderFault */
export async function unwrapVaultToken(address: string, wrapping: string, http: StoreHttp): Promise<string> {
  const answer = await http.send({
    url: `${trimEnd(address, '/')}/v1/sys/wrapping/unwrap`,
    method: 'POST',
    headers: { 'x-vault-token': wrapping, 'x-vault-request': 'true' },
  });
  const body = jsonOf<{ auth?: { client_token?: string } | null; data?: { token?: unknown } | null }>(answer);
  answer.body.fill(0);
  const inside = body?.auth?.client_token ?? body?.data?.token;
  if (answer.status === 400)
    throw new ProviderFault('access_denied', 'The wrapping token is used up, expired or unknown. Create another one.');
  if (answer.status !== 200) throw refusalOf(answer, 'Unwrapping');
  if (typeof inside !== 'string') throw new ProviderFault('misconfigured', 'The wrapping token holds no Vault token.');
  return inside;
}

const MOST_LEVELS = 64;

/** Numbers as the store has them: a double would change an integer beyond 2^53. Undefined for what is no JSON, or nested deeper than a secret is. */
function losslessOf(body: Buffer): { data?: Record<string, unknown> } | undefined {
  try {
    return parseLossless(body.toString('utf8'), MOST_LEVELS) as { data?: Record<string, unknown> };
  } catch {
    return undefined;
  }
}

/** The folder that holds everything with the prefix. */
const folderOf = (prefix: string) => prefix.slice(0, prefix.lastIndexOf('/') + 1);

const pathOf = (path: string) => path.split('/').map(encodeURIComponent).join('/');

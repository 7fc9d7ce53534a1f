import type { HttpClient } from '@azure/core-rest-pipeline';
import type { TokenCredential } from '@azure/identity';
import type { SecretClient, SecretProperties } from '@azure/keyvault-secrets';
import { jsonOf, type StoreHttp } from './http.ts';
import { type Cursor, type Provider, ProviderFault, type SourceEntry, TooLarge, VALUE_BYTES } from './provider.ts';
import { watchedHttp } from './watched-http.ts';

export type AzureGrant = { tenant_id: string; client_id: string; subscription_id: string | null; vault_names: readonly string[] };

/** Names of vaults whose secrets are still to be listed, the next one first, and where in that one. */
type Position = { vaults: readonly string[]; token?: string };

const DIRECTORY = 'login.microsoftonline.com';
const RESOURCES = 'management.azure.com';
const VAULT_HOST = /^[a-z0-9-]{3,24}\.vault\.azure\.net$/;
const MOST_VAULTS = 1_000;
/** As many as Key Vault lists at once. */
const PAGE = 25;
/** The audience that Microsoft Entra ID wants of federated tokens. */
export const AZURE_AUDIENCE = 'api://AzureADTokenExchange';

/**
 * Azure Key Vault with Microsoft's own SDK, over our transport. An app registration of the customer's trusts our issuer, so no secret is stored. Hosts follow
 * from the names of vaults, which are validated or those of the subscription.
 */
export function azure(grant: AzureGrant, assertion: () => Promise<string>, http: StoreHttp): Provider {
  const { send, answered } = watchedHttp(http, {
    who: 'Azure',
    allows: (host) => host === DIRECTORY || host === RESOURCES || VAULT_HOST.test(host),
    issues: (host) => host === DIRECTORY,
    untrusted: 'Microsoft Entra ID did not accept our token. Check issuer, subject and audience of the federated credential.',
  });
  const clients = new Map<string, SecretClient>();
  /** Of the vault's list, to the SDK; no value is kept. */
  const listed = { text: '' };
  let held: Promise<{ credential: TokenCredential; options: object }> | undefined;

  const identity = () => {
    held ??= (async () => {
      const options = {
        httpClient: await httpClientOver(send, listed),
        // How often is decided above, and what is asked is what was validated.
        retryOptions: { maxRetries: 0 },
        redirectOptions: { maxRetries: 0 },
      };
      const { ClientAssertionCredential } = await import('@azure/identity');
      const credential = new ClientAssertionCredential(grant.tenant_id, grant.client_id, assertion, {
        ...options,
        disableInstanceDiscovery: true,
      });
      return { credential, options };
    })();
    return held;
  };

  const vault = async (name: string): Promise<SecretClient> => {
    const known = clients.get(name);
    if (known) return known;
    const { credential, options } = await identity();
    const { SecretClient } = await import('@azure/keyvault-secrets');
    const client = new SecretClient(originOf(name), credential, options);
    clients.set(name, client);
    return client;
  };

  /** The key vaults of a subscription, by Azure Resource Manager: only names are believed, hosts are made of them. */
  const vaultsOf = async (subscription: string, signal: AbortSignal): Promise<string[]> => {
    const { credential } = await identity();
    const access = await credential.getToken(`https://${RESOURCES}/.default`, { abortSignal: signal });
    const query = new URLSearchParams({ $filter: "resourceType eq 'Microsoft.KeyVault/vaults'", 'api-version': '2021-04-01' });
    const names: string[] = [];
    for (let url: string | undefined = `https://${RESOURCES}/subscriptions/${subscription}/resources?${query}`; url !== undefined; ) {
      const answer = await send({ url, headers: { authorization: `Bearer ${access?.token}`, accept: 'application/json' }, signal });
      const page = jsonOf<{ value?: { name?: unknown }[]; nextLink?: unknown }>(answer);
      if (answer.status !== 200 || !page) throw new Error('Resource Manager gave no list');
      names.push(...(page.value ?? []).map(({ name }) => String(name).toLowerCase()).filter((name) => VAULT_HOST.test(hostOf(name))));
      if (names.length > MOST_VAULTS)
        throw new ProviderFault('misconfigured', 'The subscription has too many key vaults. Name those to read.');
      url = typeof page.nextLink === 'string' ? page.nextLink : undefined;
    }
    if (names.length === 0) throw new ProviderFault('not_found', 'The subscription has no key vault that the app registration can see.');
    return names;
  };

  const page = async ({ vaults, token }: Position, signal: AbortSignal) => {
    const [name = '', ...rest] = vaults;
    const client = await vault(name);
    const pages = client
      .listPropertiesOfSecrets({ abortSignal: signal })
      .byPage({ maxPageSize: PAGE, ...(token === undefined ? {} : { continuationToken: token }) });
    const { value: found } = (await pages.next()) as { value: SecretProperties[] | undefined };
    const entries = (found ?? []).map(
      ({ name: secret, updatedOn, tags }): SourceEntry => ({
        ...{ ref: `${originOf(name)}/secrets/${secret}`, name: secret, version: null, region: '' },
        ...{ updated_at: updatedOn ?? null, tags: tags ?? {} },
      }),
    );
    // The SDK's pages don't say where the next one is.
    const more = nextLinkOf(listed.text);
    const next: Position | null = more ? { vaults, token: more } : rest.length > 0 ? { vaults: rest } : null;
    return { entries, next };
  };

  const start = async (signal: AbortSignal): Promise<Position> => ({
    vaults: grant.subscription_id === null ? grant.vault_names : await vaultsOf(grant.subscription_id, signal),
  });

  return {
    probe: (signal = new AbortController().signal) =>
      answered(async () => {
        const { vaults } = await start(signal);
        // Each that was named; of a whole subscription some may be closed to us, and one says that the grant works.
        for (const name of grant.subscription_id === null ? vaults : vaults.slice(0, 1)) await page({ vaults: [name] }, signal);
      }),
    list: (cursor, signal) =>
      answered(async () => {
        if (cursor === null && grant.subscription_id !== null) return { entries: [], next: await start(signal) };
        const { entries, next } = await page((cursor as Position | null) ?? (await start(signal)), signal);
        return { entries, next: next as Cursor | null };
      }),
    readValue: ({ ref, name }, signal) =>
      answered(async () => {
        const client = await vault(new URL(ref).hostname.split('.')[0] ?? '');
        const { value = '', properties } = await client.getSecret(name, { abortSignal: signal });
        const bytes = Buffer.from(value, 'utf8');
        if (bytes.byteLength > VALUE_BYTES) throw new TooLarge();
        return { version: properties.version ?? '', bytes, binary: false };
      }),
    close: () => http.close(),
  };
}

function nextLinkOf(text: string): string | undefined {
  const { nextLink } = JSON.parse(text || '{}') as { nextLink?: unknown };
  return typeof nextLink === 'string' && nextLink !== '' ? nextLink : undefined;
}

const hostOf = (vault: string) => `${vault}.vault.azure.net`;
const originOf = (vault: string) => `https://${hostOf(vault)}`;

/** The SDK's way out: ours, with its guard. */
async function httpClientOver(send: StoreHttp['send'], last: { text: string }): Promise<HttpClient> {
  const { createHttpHeaders } = await import('@azure/core-rest-pipeline');
  return {
    async sendRequest(request) {
      const { url, method, headers, body, abortSignal } = request;
      const answer = await send({
        url,
        method: method as 'GET',
        headers: headers.toJSON(),
        ...(typeof body === 'string' ? { body } : {}),
        ...(abortSignal instanceof AbortSignal ? { signal: abortSignal } : {}),
      });
      const received = Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')]);
      const bodyAsText = answer.body.toString('utf8');
      last.text = url.includes('/secrets?') ? bodyAsText : '';
      return { request, status: answer.status, headers: createHttpHeaders(Object.fromEntries(received)), bodyAsText };
    },
  };
}

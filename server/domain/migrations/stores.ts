import { workloadToken } from '#server/platform/workload-identity.ts';
import type { Grant } from './provider-input.ts';
import { aws } from './providers/aws.ts';
import { AZURE_AUDIENCE, azure } from './providers/azure.ts';
import { envFile } from './providers/env-file.ts';
import { google, googleAudience } from './providers/google.ts';
import { storeHttp } from './providers/http.ts';
import type { Provider } from './providers/provider.ts';
import { unwrapVaultToken, vault } from './providers/vault.ts';

export type StorePlace = { tenant_id: string; space: 'live' | 'test' };

/** The store behind a grant. The SDKs of clouds are loaded when one is first used. */
export async function openStore(grant: Grant, { tenant_id, space }: StorePlace): Promise<Provider> {
  switch (grant.provider) {
    case 'env_file':
      return envFile(grant);
    case 'hashicorp_vault': {
      const { auth } = grant;
      if (auth.method === 'wrapped_token') throw new Error('a wrapping token is spent by the probe');
      // The token is for this address alone: no Vault that is shown one can use it at another.
      const way =
        auth.method === 'jwt'
          ? { role: auth.role, mount: auth.mount, jwt: () => workloadToken({ tenant_id, space }, grant.address) }
          : { token: auth.token };
      return vault(grant, way, storeHttp(tenant_id, space));
    }
    case 'aws_sm':
    case 'aws_ssm':
      return aws(grant, storeHttp(tenant_id, space));
    case 'azure_kv':
      return azure(grant, () => workloadToken({ tenant_id, space }, AZURE_AUDIENCE), storeHttp(tenant_id, space));
    case 'gcp_sm':
      return google(grant, () => workloadToken({ tenant_id, space }, googleAudience(grant)), storeHttp(tenant_id, space));
  }
}

/** The grant as it is kept: a wrapping token works once, so it is spent here and what was inside takes its place. @throws ProviderFault */
export async function spentGrant(grant: Grant, { tenant_id, space }: StorePlace): Promise<Grant> {
  if (grant.provider !== 'hashicorp_vault' || grant.auth.method !== 'wrapped_token') return grant;
  const http = storeHttp(tenant_id, space);
  try {
    return { ...grant, auth: { method: 'token', token: await unwrapVaultToken(grant.address, grant.auth.token, http) } };
  } finally {
    await http.close();
  }
}

import { listResponse, MOST_RESULTS } from './listing.ts';
import { notFound } from './problem.ts';
import type { ScimObject } from './resource.ts';
import { RESOURCES } from './resources.ts';

/** What directories read before they provision (interface rule 23 §4). */
export const DOCUMENTS = ['ServiceProviderConfig', 'ResourceTypes', 'Schemas'] as const;

/** A document, or one of those in a list. @throws ScimProblem 404 */
export function documentOf(name: (typeof DOCUMENTS)[number], id: string | null, base: string): ScimObject {
  if (name === 'ServiceProviderConfig') return serviceProviderConfig(base);
  const all = name === 'ResourceTypes' ? RESOURCES.map((one) => resourceType(one, base)) : [];
  if (id === null) return listResponse(all.length, 1, all);
  const found = all.find((one) => one.id === id);
  if (!found) throw notFound();
  return found;
}

const serviceProviderConfig = (base: string): ScimObject => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MOST_RESULTS },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'A SCIM credential of the workspace as a bearer token.',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

const resourceType = ({ type, endpoint, schema }: (typeof RESOURCES)[number], base: string): ScimObject => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id: type,
  name: type,
  endpoint,
  schema,
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${type}` },
});

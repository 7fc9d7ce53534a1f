import { env } from '#server/platform/env.ts';
import { listResponse, MOST_RESULTS } from './listing.ts';
import { notFound } from './problem.ts';
import { RESOURCES } from './resources.ts';
import { resourceTypeDocument, schemaDocument } from './schema/documents.ts';
import type { ScimObject } from './schema/read.ts';

/** What directories read before they provision (interface rule 23 §4). */
export const DOCUMENTS = ['ServiceProviderConfig', 'ResourceTypes', 'Schemas'] as const;

/** A document, or one of those in a list. @throws ScimProblem 404 */
export function documentOf(name: (typeof DOCUMENTS)[number], id: string | null, base: string): ScimObject {
  if (name === 'ServiceProviderConfig') return serviceProviderConfig(base);
  const types = RESOURCES.map(({ type }) => type);
  const all: ScimObject[] =
    name === 'ResourceTypes'
      ? types.map((type) => resourceTypeDocument(type, base))
      : types.flatMap((type) => [type.schema, ...type.extensions]).map((schema) => schemaDocument(schema, base));
  if (id === null) return listResponse(all.length, 1, all);
  // A URN is the same in any case.
  const found = all.find((one) => (name === 'Schemas' ? String(one.id).toLowerCase() === id.toLowerCase() : one.id === id));
  if (!found) throw notFound();
  return found;
}

const serviceProviderConfig = (base: string): ScimObject => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  documentationUri: `${env.PUBLIC_ADMIN_URL}/docs/scim`,
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

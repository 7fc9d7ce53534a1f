import { env } from '#server/platform/env.ts';

// What we are to authorization servers of upstreams: a public client with one redirect address (draft-ietf-oauth-client-id-metadata-document, SEP-991).

/** Where a person's browser comes back to after a consent. */
export const consentCallback = () => `${env.PUBLIC_ADMIN_URL}/admin/ai-gateway/mcp/callback`;

/** Our client_id at authorization servers that read the document there instead of registering us. Live's host serves it, for both spaces. */
export const clientDocumentUrl = () => `${new URL(env.PUBLIC_API_URL).origin}/.well-known/mcp-client.json`;

/** What we register with (RFC 7591 §2). */
export const clientMetadata = () => ({
  client_name: 'Sallyport',
  client_uri: env.PUBLIC_ADMIN_URL,
  redirect_uris: [consentCallback()],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});

/** The document itself: its client_id is the address that it was read from, character by character. */
export const clientDocument = () => ({ client_id: clientDocumentUrl(), application_type: 'web', ...clientMetadata() });

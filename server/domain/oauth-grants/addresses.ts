import type { Space } from '#server/kernel/context.ts';
import { env } from '#server/platform/env.ts';

// Public addresses of the authorization server, from configuration and never from a Host header (interface rule 01 §1.4).

/** The origin of a space's API host, which is also the issuer there. */
export const issuerOf = (space: Space): string => new URL(space === 'test' ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL).origin;

/** {base_url}: the Management API of a space as a protected resource. */
export const apiResource = (space: Space): string => `${issuerOf(space)}/v1`;

/** Whether a `resource` parameter (RFC 8707) names the Management API of the space. */
export const isApiResource = (resource: string, space: Space): boolean =>
  resource === apiResource(space) || resource === `${apiResource(space)}/` || resource === issuerOf(space);

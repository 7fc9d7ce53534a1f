import type { Edge } from '#server/api/edge.ts';
import { isApiResource } from '#server/domain/oauth-grants/addresses.ts';
import type { OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { readMcpAddress } from '#server/domain/tenants/addresses-mcp.ts';
import { spaceOf } from '#server/kernel/context.ts';
import type { Form } from './form.ts';
import { OAuthProblem } from './problem.ts';

/** One request of a token, after everything that all grants have in common. */
export type TokenCall = {
  form: Form;
  edge: Edge;
  /**
   * The client, authenticated or public. Null for a grant whose credential is something else, and for the alias of service-cli while its
   * workspace is not known.
   */
  client: OAuthClient | null;
  /** The client called itself service-cli. */
  alias: boolean;
  now: Date;
  /** The key of a DPoP proof that was verified and used up. */
  proof: { jkt: string } | null;
};

/** The body of a success: what interface rule 21 §4.1 lists. */
export type TokenAnswer = Record<string, unknown>;
export type Grant = (call: TokenCall) => Promise<TokenAnswer>;

/** @throws OAuthProblem invalid_client for a grant that needs a client */
export function clientOf({ client }: TokenCall): OAuthClient {
  if (!client) throw new OAuthProblem('invalid_grant', UNUSABLE);
  return client;
}

/** One description for everything that makes a code or token unusable, so that it tells nobody which (RFC 6749 §5.2). */
export const UNUSABLE =
  'The code or token is unknown, expired, already used or revoked, or belongs to another client. Start again with a new authorization.';

/** Checks `resource` (RFC 8707) of a grant whose tokens are for the Management API alone. @throws OAuthProblem invalid_target */
export function assertOwnResource(form: Form, client: Pick<OAuthClient, 'sandbox'>): void {
  const resource = form.get('resource');
  if (resource !== undefined && !isApiResource(resource, spaceOf(client.sandbox)))
    throw new OAuthProblem(
      'invalid_target',
      'resource must be the base URL of the Management API in the space of the client, or be left out.',
    );
}

/**
 * The Management API or MCP server that a request names, as `resource` does when a client repeats what its login was for (RFC 8707 §2.2); undefined when it
 * names nothing. @throws OAuthProblem invalid_target
 */
export function askedResource(form: Form, client: Pick<OAuthClient, 'sandbox' | 'tenant_slug'>): string | undefined {
  const resource = form.get('resource');
  if (resource === undefined || !readMcpAddress(resource, client.tenant_slug, spaceOf(client.sandbox))) assertOwnResource(form, client);
  return resource;
}

export const ANOTHER_RESOURCE = 'The login was for another resource. Leave resource out, or repeat the one of the authorization request.';

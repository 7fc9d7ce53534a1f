import { matchesRedirectUri } from '#server/domain/oauth-clients/redirect-uris.shared.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { PERSON_FORBIDDEN_SCOPES, unknownScopes } from '#server/kernel/scopes.ts';

/** What the rules need to know of a client. */
export type AskingClient = {
  grant_types: readonly string[];
  redirect_uris: readonly string[];
  allowed_scopes: readonly string[];
};

/** A valid authorization request (interface rule 21 §7). */
export type AuthorizeRequest = {
  redirect_uri: string;
  code_challenge: string;
  state: string | null;
  scopes: string[];
  /** Whether the client named scopes; otherwise it takes what it may have. */
  scope_named: boolean;
  /** Whether the client asks for a login that is confirmed with a second factor. */
  confirm: boolean;
  tenant_hint: string | null;
  resource: string | null;
  dpop_jkt: string | null;
  prompt: string[];
  login_hint: string | null;
};

export type AuthorizeError =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required';

/** The browser goes back to the client with this. */
export type Refusing = { error: AuthorizeError; description: string };

/** Where a browser may be sent back to. Null when it may be sent nowhere: the client or the address isn't known, so neither is trusted. */
export function redirectOf(query: URLSearchParams, client: AskingClient): string | null {
  const asked = single(query, 'redirect_uri');
  return asked && client.redirect_uris.some((registered) => matchesRedirectUri(registered, asked)) ? asked : null;
}

/**
 * The request, or what is wrong with it, in the order of interface rule 21 §7. The client and the redirect URI were found good before. `isResource` says
 * whether a token may be for an address (RFC 8707).
 */
export function readAuthorize(
  query: URLSearchParams,
  client: AskingClient,
  isResource: (address: string) => boolean,
): AuthorizeRequest | Refusing {
  const twice = KNOWN.find((name) => query.getAll(name).length > 1);
  if (twice) return invalid(`${twice} must be given only once.`);
  // PostgreSQL can't store it, and no value of ours holds one.
  if (KNOWN.some((name) => query.get(name)?.includes('\0'))) return invalid('Parameters must not contain a null character.');
  const of = (name: (typeof KNOWN)[number]) => single(query, name);
  const wrong = wrongForm(of);
  if (wrong) return wrong;
  if (!client.grant_types.includes('authorization_code'))
    return { error: 'unauthorized_client', description: 'This client may not use the authorization code grant.' };
  // An empty resource is an answer that the client computed wrongly, not an absent one.
  const resource = of('resource');
  if (query.get('resource') === '' || (resource !== null && !isResource(resource)))
    return {
      error: 'invalid_target',
      description: 'resource must be the base URL of the Management API, or the address of an MCP server of this workspace.',
    };
  const scopes = readScopes(of('scope'), client);
  if ('error' in scopes) return scopes;
  return {
    ...scopes,
    confirm: asksToConfirm(of('acr_values')),
    redirect_uri: of('redirect_uri') as string,
    code_challenge: of('code_challenge') as string,
    state: of('state'),
    tenant_hint: of('tenant'),
    resource,
    dpop_jkt: of('dpop_jkt'),
    prompt: promptsOf(of('prompt')),
    login_hint: of('login_hint'),
  };
}

/**
 * The scopes that a person's login asks for. Each one must be known and allowed; those that no person's token carries are left out (interface rule 24 §5).
 * Without `scope` the list is empty: what the client may have is read when the person decides.
 */
export function readScopes(
  asked: string | null,
  client: Pick<AskingClient, 'allowed_scopes'>,
): { scopes: string[]; scope_named: boolean } | Refusing {
  const named = [...new Set((asked ?? '').split(' ').filter(Boolean))];
  if (named.length === 0) return { scopes: [], scope_named: false };
  const bad = unknownScopes(named)[0] ?? named.find((scope) => !client.allowed_scopes.includes(scope));
  if (bad !== undefined)
    return {
      error: 'invalid_scope',
      description: SCOPE_TOKEN.test(bad) ? `The scope ${bad} is unknown or not allowed for this client.` : 'scope is malformed.',
    };
  const scopes = named.filter((scope) => !PERSON_FORBIDDEN_SCOPES.includes(scope)).sort();
  if (scopes.length === 0) return { error: 'invalid_scope', description: 'No token of a person carries any of these scopes.' };
  return { scopes, scope_named: true };
}

/** The authentication context of a login that its person confirmed with a second factor (RFC 9470). */
export const STEP_UP_ACR = 'step_up';

/** `acr_values` are wishes in an order of preference: those that we don't know don't count. */
export const asksToConfirm = (acr_values: string | null): boolean => (acr_values ?? '').split(' ').includes(STEP_UP_ACR);

function wrongForm(of: (name: (typeof KNOWN)[number]) => string | null): Refusing | undefined {
  const type = of('response_type');
  if (type === null) return invalid('response_type is required and must be code.');
  if (type !== 'code') return { error: 'unsupported_response_type', description: 'response_type must be code.' };
  if ((of('response_mode') ?? 'query') !== 'query') return invalid('response_mode must be query.');
  if (of('code_challenge') === null) return invalid('code_challenge is required (RFC 7636).');
  if (of('code_challenge_method') !== 'S256') return invalid('code_challenge_method must be S256.');
  if (!THUMBPRINT.test(of('code_challenge') ?? '')) return invalid('code_challenge must be 43 base64url characters.');
  if ((of('state') ?? '').length > MAX_STATE) return invalid(`state must not be longer than ${grouped(MAX_STATE)} characters.`);
  if (of('dpop_jkt') !== null && !THUMBPRINT.test(of('dpop_jkt') ?? '')) return invalid('dpop_jkt must be 43 base64url characters.');
  if ((of('tenant') ?? '').length > 100) return invalid('tenant must be the slug of a workspace.');
  if ((of('login_hint') ?? '').length > 254) return invalid('login_hint must not be longer than 254 characters.');
  const prompts = promptsOf(of('prompt'));
  if (prompts.some((one) => !PROMPTS.includes(one))) return invalid(`prompt must be one of ${PROMPTS.join(', ')}.`);
  if (prompts.includes('none') && prompts.length > 1) return invalid('prompt=none must stand alone.');
  return undefined;
}

/** The state as it goes back: also with an error that other parameters caused, but never one that is too long or given twice. */
export function stateOf(query: URLSearchParams): string | null {
  const state = single(query, 'state');
  return state !== null && state.length <= MAX_STATE && !state.includes('\0') ? state : null;
}

/** The redirect URI with the answer in its query, byte for byte as it was registered otherwise. */
export function answerAddress(redirect_uri: string, answer: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== null) query.set(name, value);
  return `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}${query}`;
}

const KNOWN = [
  'response_type',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'state',
  'scope',
  'tenant',
  'resource',
  'dpop_jkt',
  'prompt',
  'login_hint',
  'response_mode',
  'acr_values',
] as const;
const PROMPTS: readonly string[] = ['none', 'login', 'consent', 'select_account'];
const MAX_STATE = 1024;
/** 32 bytes in base64url: SHA-256 of a verifier (RFC 7636 §4.2) or of a key (RFC 7638). */
const THUMBPRINT = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
/** RFC 6749 §3.3; anything else isn't repeated in an answer. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/;

/** The only value of a parameter; an empty one is absent. Null when there is none or more than one. */
function single(query: URLSearchParams, name: string): string | null {
  const [value, ...more] = query.getAll(name);
  return value && more.length === 0 ? value : null;
}

const promptsOf = (prompt: string | null): string[] => [...new Set((prompt ?? '').split(' ').filter(Boolean))];
const invalid = (description: string): Refusing => ({ error: 'invalid_request', description });

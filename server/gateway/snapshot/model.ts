import type { PlanName } from '#server/domain/plans/schema.ts';
import type { UpstreamAuth } from '#server/domain/routes/config/upstream-auth.schema.ts';
import type { Reference, Template } from '#server/domain/templates/grammar.ts';
import type { TenantSettings } from '#server/domain/tenants/schema.ts';
import type { ConnectionStatus } from '#server/kernel/oauth2-providers.ts';
import type { PolicyCallers } from '#server/kernel/policy-callers.ts';
import type { Target } from '#server/platform/http-out/target-url.ts';
import type { FieldActions } from './field-actions.ts';

// What the slices of a snapshot compile their rows to.

export type Tenant = {
  readonly id: string;
  readonly slug: string;
  readonly plan: PlanName;
  readonly status: string;
  /** trialing, active or dunning: the data planes serve it (interface rule 20 §5). */
  readonly servable: boolean;
  readonly settings: TenantSettings;
  /** Calls per second, null = unlimited. */
  readonly rps: number | null;
  /** Live calls per month, null = unlimited. */
  readonly monthlyCalls: number | null;
};

/** Who calls: an API key, or an access token for whom it acts. */
export type Caller = {
  /** What limits per caller count by: the tokens of a key count as the key, those of a person as the person's with that client. */
  readonly id: string;
  /** Whom they count besides, in place of the ID, for a call that is made for somebody. */
  readonly countsAs?: readonly string[];
  readonly kind: 'api_key' | 'oauth_client' | 'wrap_token' | 'agent';
  /** The key or the client, as lists of denials name it. */
  readonly ref: string;
  readonly label: string;
  readonly digest: Uint8Array;
  readonly mayInvoke: boolean;
  /** Whether it may open tokens of vaults; no person's token may. */
  readonly mayDetokenize: boolean;
  /** Null: any address. */
  readonly allows: ((ip: string) => boolean) | null;
  /** Null: any route. The others don't exist for it. */
  readonly routes: ReadonlySet<string> | null;
  /** Epoch milliseconds from which it is refused; Infinity when it has no end. */
  readonly endsAt: number;
  /** What tenant policies see of it: everybody whom it calls for. */
  readonly subjects: PolicyCallers;
  /** Credentials whose last use is noted. */
  readonly used: readonly string[];
  /** What the log says of it. */
  readonly apiKeyId: string | null;
  readonly oauthClientId: string | null;
  readonly userId: string | null;
  /** Of the person whom a token acts for. */
  readonly email?: string | null;
};

export type Client = { readonly id: string; readonly name: string };
export type ClientMatch = {
  readonly client: Client;
  readonly credentialId: string;
  readonly endsAt: number;
  /** By what the client was recognized. */
  readonly method: 'ip' | 'mtls_thumbprint' | 'signature_hmac' | 'signature_ed25519';
};
/** A credential that signs calls. `key` is the public key, or where the shared secret is. */
export type Signer = ClientMatch & {
  readonly key:
    | { readonly kind: 'ed25519'; readonly publicKey: string }
    | { readonly kind: 'hmac'; readonly value: SealedValue }
    | { readonly kind: 'secret'; readonly secretId: string };
};

export type Secret = {
  readonly id: string;
  readonly name: string;
  /** What people call it; policies know it by either name. */
  readonly title: string;
  readonly type: string;
  readonly collectionId: string | null;
  readonly expiresAt: number | null;
  readonly strict: boolean;
  readonly allowedHosts: readonly string[] | null;
  /** Of a wrap credential: how its value goes into a request; null members are the caller's to say. */
  readonly escrow: { readonly header: string | null; readonly prefix: string | null } | null;
  /** By environment. Empty for a linked secret, so that only code that knows of links finds a value: `valueIn`. */
  readonly values: ReadonlyMap<string, SecretValue>;
  readonly link: SecretLink | null;
};
/** Where a secret leads that another workspace shares (interface rule 30 §14). Expiry and strictness of the linked secret are the owner's. */
export type SecretLink = {
  readonly shareId: string;
  readonly active: boolean;
  /** Epoch milliseconds; Infinity when the share has no end. */
  readonly endsAt: number;
  readonly level: 'use' | 'view' | 'manage';
  /** The workspace that shares, and the secret there. */
  readonly ownerId: string;
  readonly secretId: string;
  /** The owner's pins, which hold besides those of the share. */
  readonly ownerHosts: readonly string[] | null;
  /** The owner's environment, whatever the call runs in. */
  readonly environment: string;
  readonly value: SecretValue | undefined;
};
/** A sealed value by the ID of its row: another value has another ID. */
export type SealedValue = {
  readonly id: string;
  /** What it is sealed for; the value of a secret without it. */
  readonly purpose?: 'client_credential';
  /** The workspace whose key it is sealed under, where that isn't the one of the call. */
  readonly tenantId?: string;
  readonly sealed: { readonly value_ct: Buffer; readonly cek_wrapped: Buffer; readonly tmk_version: number };
};
export type SecretValue = SealedValue & {
  readonly expiresAt: number | null;
  /** Of an oauth2 secret, whose value is a set of tokens; null for all others. */
  readonly connection: SecretConnection | null;
  /** When a certificate ends by itself; null for all others. */
  readonly certificateEndsAt: number | null;
};
export type SecretConnection = {
  /** Of the environment's row. */
  readonly id: string;
  readonly status: ConnectionStatus;
  /** Of the access token, epoch milliseconds; null when it has no known end. */
  readonly tokenExpiresAt: number | null;
  readonly generation: number;
};
export type Variable = { readonly type: 'value'; readonly value: string } | { readonly type: 'secret'; readonly secretId: string };

/** A template ready to be rendered. `constant` is its text when it has no placeholder; `malformed` what is wrong with the stored text. */
export type CompiledTemplate = { readonly parts: Template; readonly constant: string | null; readonly malformed: string | null };
/** A null template removes the header or parameter. */
export type Injection = { readonly name: string; readonly lower: string; readonly template: CompiledTemplate | null };

export type CompiledTarget =
  | { readonly kind: 'fixed'; readonly target: Target; readonly basePath: string; readonly echo: boolean }
  | { readonly kind: 'template'; readonly template: CompiledTemplate }
  | { readonly kind: 'refused'; readonly code: 'template_invalid' | 'upstream_not_allowed'; readonly message: string };

export type RateLimit = {
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly burst: number | null;
  readonly perCaller: boolean;
};

export type SignatureRule = {
  readonly scheme: 'v1' | 'concat' | 'rfc9421';
  readonly toleranceSec: number;
  readonly requiresNonce: boolean;
};

/** `secret` is in `references.head` as well, so that it is resolved with the others. */
export type UpstreamSigning = { readonly auth: UpstreamAuth; readonly secret: Reference | null };

/** IDs of certificate secrets. */
export type UpstreamTlsConfig = { readonly certificateId: string | null; readonly caId: string | null };

/** What one route does in one environment for one method. */
/** `failures` in a row refuse calls for `openMs`. What is counted is named by `key`. */
export type CircuitRule = { readonly key: string; readonly failures: number; readonly openMs: number };

export type CallConfig = {
  readonly target: CompiledTarget;
  readonly headers: readonly Injection[];
  /** Headers that are not accepted from the caller, in lower case and hyphenated. */
  readonly droppedHeaders: ReadonlySet<string>;
  /** Neither is any X-Amz-*. */
  readonly dropsAmazon: boolean;
  readonly query: readonly Injection[];
  readonly queryNames: ReadonlySet<string>;
  /** Parsed with numbers as text; null when nothing is injected. */
  readonly body: Readonly<Record<string, unknown>> | null;
  /** Templates among the strings of `body`, by their text. */
  readonly bodyTemplates: ReadonlyMap<string, CompiledTemplate>;
  /** Everything headers, query and body need; the body's part only counts where bodies are rewritten. */
  readonly references: { readonly head: readonly Reference[]; readonly body: readonly Reference[] };
  /** What is wrong with a stored template, or null. */
  readonly malformed: string | null;
  readonly rateLimit: RateLimit | null;
  readonly timeoutMs: number;
  readonly retryAttempts: number;
  /** When calls stop going to an upstream that fails; null for most routes. */
  readonly circuit: CircuitRule | null;
  /** The upstream is spoken to in HTTP/2. */
  readonly http2: boolean;
  readonly bodyPlaceholders: 'all' | 'same_collection' | 'off';
  readonly forwardClientIp: boolean;
  /** Which payloads are kept with the log; null: as the workspace's default says. */
  readonly logPayloads: 'all' | 'errors' | 'off' | null;
  /** How calls have to be signed; null when they need not be. */
  readonly signature: SignatureRule | null;
  /** How calls to the upstream are signed; null when they aren't. */
  readonly upstreamAuth: UpstreamSigning | null;
  /** What happens to single values of requests and responses; null for most routes. */
  readonly fields: FieldActions | null;
  /** Certificates of calls to the upstream: what is presented to it, and whom it must be signed by; null for most routes. */
  readonly tls: UpstreamTlsConfig | null;
};

export type Environment = {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly requiresClients: boolean;
  readonly assigned: ReadonlySet<string>;
  readonly allows: ((ip: string) => boolean) | null;
  /** Null: no restriction. */
  readonly methods: ReadonlySet<string> | null;
  /** Value of the Allow header. */
  readonly allow: string;
  config(method: string): CallConfig;
};

export type Route = {
  readonly id: string;
  readonly name: string;
  readonly slug: string | null;
  readonly enabled: boolean;
  /** Serves an AI agent, and no call of the route plane. */
  readonly managed: boolean;
  readonly collectionId: string | null;
  readonly baseEnvironment: string;
  /** Undefined when the route has no configuration of that name. Compiled at first use. */
  environment(name: string): Environment | undefined;
};

import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { atLeastOne, flag, isoTime, neededWithout, pathId, queryInt, secret, text, time, uuid } from '#server/kernel/fields.ts';
import { CONNECTION_STATUSES, OAUTH2_CLIENT_AUTH, OAUTH2_GRANTS, OAUTH2_PROVIDERS } from '#server/kernel/oauth2-providers.ts';
import { listQuery } from '#server/kernel/page.ts';

/** For forms. */
export { OAUTH2_GRANTS, OAUTH2_PROVIDERS };

/** What a certificate says of itself. */
export const CertificateFacts = z
  .object({
    certificate_type: z.string(),
    subject: z.string().nullable(),
    issuer: z.string().nullable(),
    serial_number: z.string().nullable(),
    fingerprint_sha256: z.string().nullable(),
    not_before: time().nullable(),
    expires_at: time().nullable(),
    subject_alternative_names: z.array(z.string()),
    has_private_key: z.boolean(),
    chain_length: z.int(),
  })
  .meta({ id: 'CertificateFacts' });

export const SecretEnvironment = z
  .object({
    environment_name: z.string(),
    value_version: z.int().min(1),
    updated_at: time(),
    expires_at_override: time().nullable(),
    /** Of oauth2 secrets, as are the next two. */
    connection_status: z.enum(CONNECTION_STATUSES).nullable(),
    token_expires_at: time().nullable(),
    /** Why there is no token: a code of the provider or of ours. */
    connection_error: z.string().nullable(),
    /** Of certificates. */
    certificate: CertificateFacts.nullable(),
  })
  .meta({ id: 'SecretEnvironment' });

/** On a linked secret: whose it is, and how it may be used (interface rule 30 §14.3). Null on the workspace's own. */
export const SharedWithUs = z
  .object({
    share_id: z.uuid(),
    /** null when that workspace or the share is gone */
    owner_workspace: z.string().nullable(),
    access_level: z.enum(['use', 'view', 'manage']).nullable(),
    /** null for any host */
    allowed_hosts: z.array(z.string()).nullable(),
    environment: z.string().nullable(),
    status: z.enum(['pending', 'active', 'expired', 'declined', 'revoked', 'left']),
    expires_at: time().nullable(),
  })
  .meta({ id: 'SharedWithUs' });

/** What the list shows of a secret; the value is on no wire (interface rule 30 §3.1). */
export const Secret = z
  .object({
    id: z.uuid(),
    name: z.string(),
    shortcode_name: z.string(),
    base_environment: z.string().nullable(),
    secret_type: z.enum(['string', 'oauth2', 'certificate']),
    collection_id: z.uuid().nullable(),
    created_at: time(),
    environment_count: z.int(),
    /** The environments that hold a value, in order of name. */
    environment_names: z.array(z.string()),
    /** One for each environment that holds a value, in order of name. */
    environments: z.array(SecretEnvironment),
    /** Routes, client credentials and variables that refer to it. */
    reference_count: z.int(),
    expires_at: time().nullable(),
    strict_expiry_enforcement: z.boolean(),
    tags: z.array(z.string()),
    allowed_hosts: z.array(z.string()).nullable(),
    escrow: z.boolean(),
    /** In the base environment; null unless the type is oauth2. */
    connection_status: z.enum(CONNECTION_STATUSES).nullable(),
    shared: SharedWithUs.nullable(),
    /** Shares of this secret with other workspaces that are offered or active. */
    share_count: z.int(),
    rotate_every_days: z.int().nullable(),
    /** When the oldest value should be changed; null without a reminder or a value. */
    rotation_due_at: time().nullable(),
  })
  .meta({ id: 'Secret' });

/** What a connection asks whom for; its credentials are on no wire. */
export const ConnectionSettings = z
  .object({
    provider: z.enum(OAUTH2_PROVIDERS),
    grant_type: z.enum(OAUTH2_GRANTS),
    client_id: z.string(),
    scopes: z.array(z.string()),
    auth_url: z.string().nullable(),
    token_url: z.string().nullable(),
    token_endpoint_auth_method: z.enum(OAUTH2_CLIENT_AUTH),
    /** To be registered at the provider; null for grants without a browser. */
    redirect_uri: z.string().nullable(),
    mtls_certificate_id: z.uuid().nullable(),
  })
  .meta({ id: 'ConnectionSettings' });

export const SecretDetail = Secret.extend({
  description: z.string().nullable(),
  updated_at: time(),
  /** null unless the type is oauth2. */
  oauth2: ConnectionSettings.nullable(),
}).meta({ id: 'SecretDetail' });

/** What POST answers of a secret of any type (interface rule 30 §3.3). */
export const CreatedString = Secret.pick({
  id: true,
  name: true,
  shortcode_name: true,
  base_environment: true,
  environment_count: true,
  secret_type: true,
  collection_id: true,
  expires_at: true,
  strict_expiry_enforcement: true,
});
export const UpdatedSecret = Secret.pick({ id: true, name: true, expires_at: true, strict_expiry_enforcement: true }).meta({
  id: 'UpdatedSecret',
});
export const WrittenValue = z
  .object({ id: z.uuid(), name: z.string(), environment: z.string(), value_version: z.int() })
  .meta({ id: 'WrittenValue' });

/** The name rule of interface rule 30 §5, after normalisation. */
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** `Stripe API Key` becomes `Stripe_API_Key`; case is kept. */
export const normalisedName = (name: string) => name.trim().replace(/\s+/g, '_');

const VALUE_BYTES = 65_536;

export const secretName = () =>
  z
    .string()
    .max(1_000)
    .transform(normalisedName)
    .pipe(z.string().regex(SECRET_NAME, 'must be 1 to 128 letters, digits, _ . or -, and must not start with . or -'))
    .meta({ minLength: 1, maxLength: 128, pattern: SECRET_NAME.source, examples: ['STRIPE_API_KEY'] });

/** Stored byte for byte: nothing is trimmed, and what UTF-8 or a header could not carry unchanged is refused. */
export const secretValue = () =>
  secret(
    z
      .string()
      .min(1, 'must not be empty')
      .max(VALUE_BYTES, 'must be at most 65536 bytes')
      .refine((v) => new TextEncoder().encode(v).length <= VALUE_BYTES, 'must be at most 65536 bytes')
      .refine((v) => !v.includes('\u0000'), 'must not contain NUL')
      .refine((v) => v.isWellFormed(), 'must be valid Unicode'),
  );

const tags = () =>
  z
    .array(
      z
        .string()
        .trim()
        .max(50)
        .regex(/^[A-Za-z0-9][A-Za-z0-9 _.:/-]*$/, 'can only contain letters, digits, spaces and _ . : / -'),
    )
    .max(20)
    .transform((list) => list.filter((tag, i) => list.findIndex((other) => other.toLowerCase() === tag.toLowerCase()) === i));

/** One host, or one label below it; the service checks it against the public suffix list (interface rule 30 §13). */
const hostPin = () =>
  z
    .string()
    .min(1)
    .max(300)
    .meta({ pattern: '^(?:\\*\\.)?(?:[a-z0-9-]+\\.)+[a-z][a-z0-9-]*[a-z0-9]$', examples: ['api.example.com', '*.example.com'] });

const date = () => isoTime().transform((v) => new Date(v));
const environment = environmentName;

const settings = {
  description: text(1_000),
  collection_id: uuid().nullable(),
  expires_at: date().nullable(),
  strict_expiry_enforcement: z.boolean(),
  tags: tags(),
  /** null lifts the pin. */
  allowed_hosts: z.array(hostPin()).min(1).max(50).nullable(),
  rotate_every_days: z.int().min(1).max(3_650).nullable(),
};

/** Losing a credential silently is worse than refusing it: material of the other types is named in the refusal. */
const foreign = () => z.never({ error: 'belongs to another secret type; for string secrets, send value' }).optional();
const foreignMaterial = {
  client_secret: foreign(),
  access_token: foreign(),
  refresh_token: foreign(),
  username: foreign(),
  password: foreign(),
  certificate_content: foreign(),
  private_key: foreign(),
  passphrase: foreign(),
};
export type ForeignMaterial = keyof typeof foreignMaterial;

/** A value meant for one environment must not land in another because its field was misnamed; answers call it by the first two. */
const misnamed = () => z.never({ error: 'is not a field of this call; use environment' }).optional();
const misnamedEnvironment = { environment_name: misnamed(), base_environment: misnamed(), environment_id: misnamed(), env: misnamed() };

/** A secret whose value is given; other types have fields of their own. */
export const StringSecret = z.object({
  name: secretName(),
  /** People may leave it out and fill it in per environment later. */
  value: neededWithout('secret_type', secretValue()),
  environment: environment().optional(),
  ...misnamedEnvironment,
  ...z.object(settings).partial().shape,
  ...foreignMaterial,
});

/** What every new secret may say of itself, whatever its type. */
export const secretSettings = { environment: environment().optional(), ...misnamedEnvironment, ...z.object(settings).partial().shape };

export const UpdateSecret = atLeastOne(
  z.object({
    id: pathId(),
    name: secretName().optional(),
    ...z.object(settings).partial().shape,
    /** Dropped in silence, a new value would be believed stored. */
    value: z.never({ error: "can't be changed here; use PUT /secrets/{id}/value" }).optional(),
    ...foreignMaterial,
  }),
);

const VERSION = /^(?:\*|"[0-9]{1,9}"|[0-9]{1,9})$/;

export const PutValue = z.object({
  id: pathId(),
  value: secretValue(),
  environment: environment().optional(),
  ...misnamedEnvironment,
  ...foreignMaterial,
  /** The version the caller believes to be current, as `"3"`, `3` or `*`. */
  if_match: z
    .string()
    .trim()
    .regex(VERSION, 'must be a value_version such as "3", or *')
    .optional()
    .meta({ 'x-header': 'If-Match', examples: ['"3"', '*'] }),
});

export const SecretRef = z.object({ id: pathId() });
export const RevealSecret = z.object({ id: pathId(), environment: environment().optional(), ...misnamedEnvironment });
export const RevealedSecret = WrittenValue.extend({
  value: z.string(),
  /** Of the access token that an oauth2 secret's value is. */
  token_expires_at: time().nullable().optional(),
}).meta({ id: 'RevealedSecret' });
export const SecretEnvironmentRef = z.object({ id: pathId(), env: pathId() });
export const UpdateSecretEnvironment = z.object({ id: pathId(), env: pathId(), expires_at_override: date().nullable() });
export const RestoreValue = z.object({ id: pathId(), environment: environment().optional(), ...misnamedEnvironment });

export const ListSecrets = listQuery({
  sorts: ['created_at', 'name', 'base_environment'],
  sort: 'name',
  order: 'asc',
  filters: {
    secret_type: z.enum(['string', 'oauth2', 'certificate']).optional(),
    collection_id: uuid().optional(),
    tag: z.string().min(1).max(50).optional(),
    q: z.string().max(128).optional(),
    /** Secrets with a value that ends within so many days, ended ones included. */
    expiring_within_days: queryInt(1, 365).optional(),
  },
});

export const SecretUsage = z
  .object({
    references: z.array(
      z.object({
        kind: z.string(),
        id: z.uuid(),
        name: z.string().nullable(),
        environment: z.string().nullable(),
        field: z.string(),
        by: z.enum(['id', 'name']),
      }),
    ),
    last_used_at: time().nullable(),
    calls_30d: z.int(),
    shares: z.int(),
    wrap_tokens: z.int(),
    /** Uses by other workspaces in the last 30 days, the newest first; hosts beyond 200 of a share and day are counted as `*`. */
    shared_calls: z.array(
      z.object({ share_id: z.uuid(), recipient: z.string(), day: z.string(), host: z.string(), calls: z.int(), last_at: time() }),
    ),
  })
  .meta({ id: 'SecretUsage' });

/** Every value that was ever written, newest first; the values themselves are on no wire (interface rule 30 §8). */
export const SecretVersions = z
  .object({
    versions: z.array(
      z.object({
        environment: z.string(),
        value_version: z.int(),
        written_at: time(),
        /** null to readers without audit_log:list, and once the audit entry is past its retention */
        written_by: z.string().nullable(),
        how: z.enum(['created', 'set', 'restored']).nullable(),
        current: z.boolean(),
        superseded_at: time().nullable(),
        /** Until then it can be put back; null for the current one and for what is wiped. */
        restorable_until: time().nullable(),
        wiped_at: time().nullable(),
      }),
    ),
    /** There are older ones than these. */
    more: z.boolean(),
  })
  .meta({ id: 'SecretVersions' });

export const ImportEnv = z.object({
  /** The text of a .env file, at most 512 KiB. */
  content: secret(z.string().min(1).max(524_288)),
  environment: environment().optional(),
  ...misnamedEnvironment,
  collection_id: uuid().nullable().optional(),
  tags: tags().optional(),
  /** Names to take; absent takes all. */
  only: z.array(z.string().max(128)).min(1).max(500).optional(),
  /** true proposes and stores nothing. */
  dry_run: flag().default(false),
});

export const ImportedEnv = z
  .object({
    dry_run: z.boolean(),
    environment: z.string(),
    created: z.array(z.object({ name: z.string(), id: z.uuid().nullable() })),
    skipped: z.array(z.object({ name: z.string(), reason: z.string() })),
    refused: z.array(z.object({ line: z.int(), name: z.string().nullable(), reason: z.string() })),
  })
  .meta({ id: 'ImportedEnv' });

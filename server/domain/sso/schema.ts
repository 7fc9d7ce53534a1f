import { z } from 'zod';
import { isOwnPath } from '#server/domain/people/own-path.shared.ts';
import { email } from '#server/domain/people/schema.ts';
import { atLeastOne, label, pathId, secret, time } from '#server/kernel/fields.ts';
import { SSO_REASONS, type SsoReason } from './reasons.shared.ts';

export const SSO_KINDS = ['oidc', 'saml'] as const;
export type SsoKind = (typeof SSO_KINDS)[number];

/** A connection to an identity provider (interface rule 22 §9). Its client secret is never shown. */
export const SsoConnection = z
  .object({
    id: z.uuid(),
    kind: z.enum(SSO_KINDS),
    name: z.string(),
    /** Whether people can sign in by it. */
    active: z.boolean(),
    /** OpenID Connect: the issuer. SAML: the entity ID of the provider. */
    issuer: z.string(),
    client_id: z.string().nullable(),
    has_client_secret: z.boolean(),
    token_auth: z.enum(['basic', 'post']),
    sso_url: z.string().nullable(),
    certificates: z.array(
      z.object({ pem: z.string(), fingerprint: z.string(), subject: z.string(), valid_from: time(), valid_to: time() }),
    ),
    allow_idp_initiated: z.boolean(),
    /** Whether a second factor that the provider asserts counts at sign-in. It never confirms an action. */
    trust_mfa: z.boolean(),
    /** When a test or a sign-in last succeeded. */
    tested_at: time().nullable(),
    /** What the provider's administrator needs. */
    service: z.object({ redirect_uri: z.string(), acs_url: z.string(), entity_id: z.string() }),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'SsoConnection' });

const httpUrl = () =>
  z
    .string()
    .trim()
    .max(2048)
    .refine((text) => {
      const url = URL.parse(text);
      return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === '';
    }, 'must be a URL such as https://login.example.com');
const issuerUrl = () => httpUrl().refine((text) => URL.parse(text)?.search === '', 'must have no query');
const certificates = () => z.array(z.string().min(1).max(20_000)).min(1).max(4);

const settings = {
  name: label(100),
  active: z.boolean(),
  allow_idp_initiated: z.boolean(),
  trust_mfa: z.boolean(),
  issuer: issuerUrl(),
  client_id: label(500),
  /** Null for a public client. */
  client_secret: secret(z.string().min(1).max(4096)).nullable(),
  token_auth: z.enum(['basic', 'post']),
  /** The provider's metadata document: its entity ID, address and certificates. */
  metadata_xml: z.string().min(1).max(200_000),
  entity_id: z.string().trim().min(1).max(1024),
  sso_url: httpUrl(),
  certificates: certificates(),
};

export const CreateSsoConnection = z.object({ kind: z.enum(SSO_KINDS), ...z.object(settings).partial().shape }).required({ name: true });
export const UpdateSsoConnection = atLeastOne(z.object({ id: pathId(), ...z.object(settings).partial().shape }));
export const SsoConnectionRef = z.object({ id: pathId() });

/** The metadata document of this service, as XML. */
export const SsoMetadata = z.object({ xml: z.string() }).meta({ id: 'SsoMetadata' });

export const SsoTestStarted = z.object({ id: z.uuid(), url: z.string(), expires_at: time() });
const REASONS = Object.keys(SSO_REASONS) as [SsoReason, ...SsoReason[]];
/** What a test sign-in showed. It changes nothing, whatever it shows. */
export const SsoTest = z
  .object({
    id: z.uuid(),
    connection_id: z.uuid(),
    status: z.enum(['waiting', 'succeeded', 'failed', 'expired']),
    reason: z.enum(REASONS).nullable(),
    message: z.string().nullable(),
    /** What would happen at a real sign-in of this person. */
    outcome: z.string().nullable(),
    claims: z
      .object({
        issuer: z.string(),
        subject: z.string(),
        email: z.string().nullable(),
        email_verified: z.boolean(),
        name: z.string().nullable(),
        methods: z.array(z.string()),
        mfa: z.boolean(),
      })
      .nullable(),
    created_at: time(),
  })
  .meta({ id: 'SsoTest' });

export const SsoSettings = z
  .object({
    sso_required: z.boolean(),
    jit_joining: z.boolean(),
    verified_domains: z.array(z.string()),
    /** Members whose address is in a verified domain and who aren't Owners: those whom a requirement concerns. */
    members_concerned: z.int(),
    /** Owners, and those of them who can sign in without the provider: with a password and a second factor. */
    owners: z.int(),
    owners_with_break_glass: z.int(),
    tested_connections: z.int(),
  })
  .meta({ id: 'SsoSettings' });
export const UpdateSsoSettings = atLeastOne(z.object({ sso_required: z.boolean().optional(), jit_joining: z.boolean().optional() }), []);

export const SsoLookup = z.object({ email: email() });
export const SsoLookupAnswer = z.object({ sso: z.boolean(), required: z.boolean() });

const short = z.string().max(4096).optional();
export const SsoStart = z.object({
  email: email().optional(),
  /** Slug of a workspace. */
  tenant: z.string().max(60).optional(),
  /** Of a test sign-in. */
  test: z.string().max(100).optional(),
  /** The page of the dashboard to go on to. */
  next: z.string().max(500).refine(isOwnPath, 'must be a path of this dashboard').optional(),
});
/** What an OpenID Connect provider answers in the address (RFC 6749 §4.1.2, RFC 9207), or our own relay of a SAML response. */
export const SsoCallback = z.looseObject({ state: short, code: short, iss: short, error: short });
export const SsoWorkspaceCallback = SsoCallback.extend({ tenant_id: z.string() });
export const SsoAcs = z.object({ SAMLResponse: z.string().max(400_000).optional(), RelayState: z.string().max(1024).optional() });
export const SsoRedirect = z.object({ location: z.string() });

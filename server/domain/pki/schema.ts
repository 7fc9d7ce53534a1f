import { z } from 'zod';
import { atLeastOne, isoTime, isUuid, pathId, shownOnce, time } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { normalizePattern } from './names.shared.ts';
import { leafSubject, rootSubject } from './subject.schema.ts';

export const ROOT_STATES = ['active', 'retired', 'revoked'] as const;
export const INTERMEDIATE_STATES = ['active', 'retired', 'expired', 'revoked'] as const;
export const CERTIFICATE_STATES = ['valid', 'expired', 'revoked'] as const;
export const KEY_ALGORITHMS = ['ecdsa-p256'] as const;
/** How a leaf was asked for: with a key of ours, by a certificate request, through ACME. */
export const SOURCES = ['issue', 'sign', 'acme'] as const;
/** Reasons of RFC 5280 §5.3.1 that a leaf can have; an intermediate's key may be compromised as that of an authority besides. */
export const REASONS = [
  'unspecified',
  'key_compromise',
  'affiliation_changed',
  'superseded',
  'cessation_of_operation',
  'privilege_withdrawn',
] as const;
export const INTERMEDIATE_REASONS = [...REASONS, 'ca_compromise'] as const;

const DAY = 86_400;
export const MOST_ROLES = 100;
/** Leaves of Test last at most so long, in seconds (interface rule 64 §4). */
export const MOST_TEST_TTL = 30 * DAY;

/** Lower case, as it stands in paths; no name looks like an ID. */
const mountName = () =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9][a-z0-9_-]*$/, 'may have lower-case letters, digits, underscores and dashes, and begins with a letter or digit')
    .refine((name) => !isUuid(name), "can't look like an ID");

const SubjectFields = z
  .object({
    common_name: z.string().optional(),
    organization: z.string().optional(),
    organizational_unit: z.string().optional(),
    country: z.string().optional(),
    province: z.string().optional(),
    locality: z.string().optional(),
  })
  .meta({ id: 'CaSubject' });

/** A root with its active intermediate (interface rule 43 §2.1). Private keys are in no answer. */
export const CaRoot = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    cert_pem: z.string(),
    subject: z.string(),
    subject_fields: SubjectFields.nullable(),
    serial_hex: z.string(),
    fingerprint_sha256: z.string(),
    not_before: time(),
    not_after: time(),
    status: z.enum(ROOT_STATES),
    intermediate: z.object({ id: z.uuid(), not_before: time(), not_after: time(), serial_hex: z.string() }).nullable(),
    intermediate_ttl_seconds: z.int(),
    publish: z.boolean(),
    public_url: z.url().nullable(),
    created_at: time(),
    updated_at: time(),
    sandbox: z.boolean(),
  })
  .meta({ id: 'CaRoot' });

/** Of roles. An intermediate is replaced when a third of it is left: that must be longer than certificates last, and 1.5 times the longest is advised. */
export const DEFAULT_TTL = 30 * DAY;
const MAX_TTL = 90 * DAY;
export const DEFAULT_INTERMEDIATE_TTL = 1.5 * MAX_TTL;

export const CreateRoot = z.object({
  name: mountName(),
  subject: rootSubject(),
  ttl_seconds: z
    .int()
    .min(365 * DAY)
    .max(7_305 * DAY)
    .default(3_650 * DAY),
  intermediate_ttl_seconds: z
    .int()
    .min(DAY)
    .max(1_825 * DAY)
    .default(DEFAULT_INTERMEDIATE_TTL),
  publish: z.boolean().default(true),
});
export const CreatedRoot = z.object({ root: CaRoot, intermediate_not_after: time() }).meta({ id: 'CreatedCaRoot' });

/** The name or the ID of a root. */
export const RootRef = z.object({ name: pathId() });

const unchangeable = () => z.never({ error: "can't be changed; create another root" }).optional();
export const UpdateRoot = atLeastOne(
  z.object({
    name: pathId(),
    status: z.enum(ROOT_STATES).optional(),
    intermediate_ttl_seconds: z
      .int()
      .min(DAY)
      .max(1_825 * DAY)
      .optional(),
    publish: z.boolean().optional(),
    subject: unchangeable(),
    ttl_seconds: unchangeable(),
  }),
  ['name'],
);

export const RotatedIntermediate = z.object({ intermediate_id: z.uuid(), not_after: time() }).meta({ id: 'RotatedIntermediate' });

export const GetCrl = z.object({ name: pathId(), issuer: z.string().optional(), format: z.enum(['pem', 'der']).default('pem') });

/** What leaves of a root may claim (interface rule 43 §2.2). */
export const CaRole = z
  .object({
    id: z.uuid(),
    ca_root_id: z.uuid(),
    name: z.string(),
    allowed_domains: z.array(z.string()),
    allow_subdomains: z.boolean(),
    allow_wildcards: z.boolean(),
    default_ttl_seconds: z.int(),
    max_ttl_seconds: z.int(),
    key_algorithm: z.enum(KEY_ALGORITHMS),
    allow_ip_sans: z.boolean(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'CaRole' });

const pattern = () =>
  z
    .string()
    .trim()
    .min(1)
    .max(253)
    .transform((text, ctx) => {
      const one = normalizePattern(text);
      if (one !== null) return one;
      ctx.addIssue({ code: 'custom', message: 'must be a host name, in which asterisks may stand for parts of labels, or *' });
      return z.NEVER;
    });
const patterns = () => z.array(pattern()).max(100);
const ttl = () => z.int().min(60).max(315_360_000);

const withinMax = ({
  default_ttl_seconds: given = 60,
  max_ttl_seconds: most = 315_360_000,
}: {
  default_ttl_seconds?: number | undefined;
  max_ttl_seconds?: number | undefined;
}) => given <= most;
const TOO_LONG = { path: ['default_ttl_seconds'], message: 'must be at most max_ttl_seconds' };

export const CreateRole = z
  .object({
    name: pathId(),
    role_name: mountName(),
    allowed_domains: patterns().default([]),
    allow_subdomains: z.boolean().default(true),
    allow_wildcards: z.boolean().default(false),
    /** The shorter of 30 days and the maximum unless given. */
    default_ttl_seconds: ttl().optional(),
    max_ttl_seconds: ttl().default(MAX_TTL),
    key_algorithm: z.enum(KEY_ALGORITHMS).default('ecdsa-p256'),
    allow_ip_sans: z.boolean().default(true),
  })
  .refine(withinMax, TOO_LONG);

/** The names or IDs of a root and of one of its roles. */
export const RoleRef = z.object({ name: pathId(), role: pathId() });
export const UpdateRole = atLeastOne(
  z.object({
    name: pathId(),
    role: pathId(),
    allowed_domains: patterns().optional(),
    allow_subdomains: z.boolean().optional(),
    allow_wildcards: z.boolean().optional(),
    default_ttl_seconds: ttl().optional(),
    max_ttl_seconds: ttl().optional(),
    key_algorithm: z.enum(KEY_ALGORITHMS).optional(),
    allow_ip_sans: z.boolean().optional(),
  }),
  ['name', 'role'],
).refine(withinMax, TOO_LONG);

const sanDns = () => z.array(z.string().min(1).max(255)).max(100);
const sanIp = () => z.array(z.string().min(1).max(45)).max(20);

export const IssueCertificate = z.object({
  name: pathId(),
  role: pathId(),
  subject: leafSubject(),
  san_dns: sanDns().optional(),
  san_ip: sanIp().optional(),
  ttl_seconds: z.int().min(60).optional(),
});

export const SignRequest = z.object({
  name: pathId(),
  role: pathId(),
  csr_pem: z.string().min(1).max(65_536),
  san_dns: sanDns().optional(),
  san_ip: sanIp().optional(),
  ttl_seconds: z.int().min(60).optional(),
});

export const SignedCertificate = z
  .object({
    serial_hex: z.string(),
    cert_pem: z.string(),
    ca_chain_pem: z.string(),
    not_before: time(),
    not_after: time(),
  })
  .meta({ id: 'SignedCertificate' });
export const IssuedCertificate = SignedCertificate.extend({ private_key_pem: shownOnce(z.string()) }).meta({ id: 'IssuedCertificate' });
/** The same for a person, who sees the key once, behind the gate of reveals. */
export const RevealedCertificate = SignedCertificate.extend({ private_key_pem: z.string() }).meta({ id: 'RevealedCertificate' });

const serialHex = () => z.string().min(1).max(128);

/** `key_compromise`, or as RFC 5280 spells it: `keyCompromise`. */
const reason = <const R extends readonly [string, ...string[]]>(reasons: R) =>
  z
    .preprocess(
      (given) => (typeof given === 'string' ? given.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : given),
      z.enum(reasons).default('unspecified' as never),
    )
    .meta({ type: 'string', enum: [...reasons] });

export const RevokeCertificate = z.object({ name: pathId(), serial_hex: serialHex(), reason: reason(REASONS) });
export const Revoked = z.object({ revoked: z.literal(true) }).meta({ id: 'RevokedCertificate' });
export const RevokeIntermediate = z.object({ name: pathId(), id: pathId(), reason: reason(INTERMEDIATE_REASONS) });
export const RevokedIntermediate = z
  .object({ revoked: z.literal(true), intermediate_id: z.uuid().nullable() })
  .meta({ id: 'RevokedIntermediate' });

/** The record of a leaf (interface rule 43 §2.3). */
export const CertificateRecord = z
  .object({
    id: z.uuid(),
    ca_root_id: z.uuid(),
    intermediate_id: z.uuid(),
    role_name: z.string(),
    serial_hex: z.string(),
    subject: z.string(),
    san_dns: z.array(z.string()),
    san_ip: z.array(z.string()),
    not_before: time(),
    not_after: time(),
    status: z.enum(CERTIFICATE_STATES),
    revoked_at: time().nullable(),
    revocation_reason: z.string().nullable(),
    source: z.enum(SOURCES),
    issued_by: z.object({ type: z.string(), id: z.string().nullable(), label: z.string() }),
    fingerprint_sha256: z.string(),
    created_at: time(),
  })
  .meta({ id: 'CertificateRecord' });
export const CertificateDetail = CertificateRecord.extend({ cert_pem: z.string() }).meta({ id: 'CertificateDetail' });

export const ListCertificates = listQuery({
  sorts: ['created_at', 'not_after'],
  sort: 'created_at',
  order: 'desc',
  filters: {
    name: pathId(),
    role: z.string().max(63).optional(),
    status: z.enum(CERTIFICATE_STATES).optional(),
    serial_hex: serialHex().optional(),
    subject: z.string().max(253).optional(),
    expiring_before: isoTime().optional(),
  },
});
export const CertificateRef = z.object({ name: pathId(), serial_hex: pathId() });

/** What the dashboard shows of a root beside the root itself. */
export const RootOverview = z
  .object({
    id: z.uuid(),
    valid: z.int(),
    expiring: z.int(),
    roles: z.int(),
    intermediates: z.array(
      z.object({
        id: z.uuid(),
        serial_hex: z.string(),
        subject: z.string(),
        status: z.enum(INTERMEDIATE_STATES),
        not_before: time(),
        not_after: time(),
        revoked_at: time().nullable(),
        revocation_reason: z.string().nullable(),
      }),
    ),
    crls: z.array(
      z.object({
        id: z.uuid(),
        issuer: z.enum(['root', 'intermediate']),
        number: z.int(),
        this_update: time().nullable(),
        next_update: time().nullable(),
        entries: z.int(),
        url: z.url().nullable(),
      }),
    ),
  })
  .meta({ id: 'CaRootOverview' });

export const RootSummary = z
  .object({ id: z.uuid(), valid: z.int(), expiring: z.int(), roles: z.int(), longest_ttl_seconds: z.int().nullable() })
  .meta({ id: 'CaRootSummary' });

import { z } from 'zod';
import { atLeastOne, label, pathId, secret, time } from '#server/kernel/fields.ts';
import { SCOPE_NAMES } from '#server/kernel/scopes.ts';
import { claimPath, LONGEST_PATH } from './claims.shared.ts';
import { LONGEST_PATTERN, patternProblem } from './patterns.shared.ts';
import { PROVIDER_NAMES } from './providers.shared.ts';

export const MOST_BINDINGS = 20;
export const MOST_CLAIMS = 16;
export const MOST_PATTERNS = 16;

/** Whose tokens a client accepts in exchange for its own (interface rule 21 §5). */
export const TrustBinding = z
  .object({
    id: z.uuid(),
    name: z.string(),
    provider: z.enum(PROVIDER_NAMES),
    issuer: z.string(),
    audience: z.string(),
    subject: z.string().nullable(),
    claims: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    scopes: z.array(z.string()),
    ttl_seconds: z.int(),
    single_use: z.boolean(),
    enabled: z.boolean(),
    use_count: z.int(),
    last_used_at: time().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'TrustBinding' });

const pattern = () =>
  z
    .string()
    .min(1)
    .max(LONGEST_PATTERN)
    .superRefine((text, ctx) => {
      const problem = patternProblem(text);
      if (problem !== null) ctx.addIssue({ code: 'custom', message: problem });
    });

const claims = z
  .record(z.string().max(LONGEST_PATH), z.union([pattern(), z.array(pattern()).min(1).max(MOST_PATTERNS)]))
  .refine((given) => Object.keys(given).length <= MOST_CLAIMS, `must have at most ${MOST_CLAIMS} claims`)
  .refine(
    (given) => Object.keys(given).every((path) => claimPath(path) !== null),
    'each must name a claim, such as environment, google.compute_engine.project_id or ["kubernetes.io"].namespace',
  );

const settings = {
  name: label(100),
  provider: z.enum(PROVIDER_NAMES),
  issuer: z.string().trim().min(1).max(500),
  audience: label(255),
  /** Null: the claims say whose tokens are trusted. */
  subject: pattern().nullable(),
  claims,
  scopes: z
    .array(z.enum(SCOPE_NAMES as [string, ...string[]], 'unknown scope'))
    .min(1, 'must name at least one scope')
    .max(100),
  ttl_seconds: z.number().int().min(300).max(3600),
  single_use: z.boolean(),
  enabled: z.boolean(),
};

export const CreateTrustBinding = z
  .object({ id: pathId(), ...z.object(settings).partial().shape })
  .required({ name: true, provider: true, scopes: true });
export const UpdateTrustBinding = atLeastOne(z.object({ id: pathId(), binding_id: pathId(), ...z.object(settings).partial().shape }), [
  'id',
  'binding_id',
]);

/** `id` is the client, by its ID or client ID. */
export const TrustBindingsOf = z.object({ id: pathId() });
export const TrustBindingRef = z.object({ id: pathId(), binding_id: pathId() });

export const TestTrustBindings = z.object({ id: pathId(), subject_token: secret(z.string().trim().min(1).max(20_000)) });

/** What an exchange of this token would do, step by step. Nothing is exchanged and nothing is kept. */
export const TrustBindingsTest = z
  .object({
    /** Whether an exchange would succeed now. */
    accepted: z.boolean(),
    /** The binding that an exchange would use. */
    binding_id: z.uuid().nullable(),
    /** Why the token itself is refused, whatever the bindings say; null when it is sound. */
    problem: z.string().nullable(),
    /** Whether the issuer's keys confirmed the signature; null when they couldn't be asked. */
    signature_valid: z.boolean().nullable(),
    issuer: z.string().nullable(),
    subject: z.string().nullable(),
    audiences: z.array(z.string()),
    expires_at: time().nullable(),
    bindings: z.array(
      z.object({
        binding_id: z.uuid(),
        name: z.string(),
        enabled: z.boolean(),
        matches: z.boolean(),
        conditions: z.array(
          z.object({ claim: z.string(), expected: z.array(z.string()), actual: z.array(z.string()), matches: z.boolean() }),
        ),
      }),
    ),
  })
  .meta({ id: 'TrustBindingsTest' });

import { z } from 'zod';
import { uuid } from '#server/kernel/fields.ts';
import { headerNameProblem, TOKEN } from './header-names.shared.ts';

/** How calls to an upstream are signed with a secret that never leaves the gateway (interface rule 30 §12). */
export const JWT_ALGORITHMS = ['HS256', 'RS256', 'PS256', 'ES256', 'EdDSA'] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** Claims that are made for each token. */
const OWN_CLAIMS = ['iss', 'sub', 'aud', 'iat', 'exp', 'jti'];
const MAX_CLAIMS_BYTES = 4_096;

/** A claim as it is: placeholders would be sent as they are written. */
const claim = () =>
  z
    .string()
    .min(1)
    .max(255)
    .refine((text) => !text.includes('{{'), 'must not contain placeholders');

const AwsSigV4 = z.object({
  type: z.literal('aws_sigv4'),
  /** A string secret: {"access_key_id", "secret_access_key", "session_token"?} as JSON. */
  secret_id: uuid(),
  region: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be a region, such as us-east-1'),
  service: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be a service, such as s3'),
});

const JwtBearer = z.object({
  type: z.literal('jwt_bearer'),
  algorithm: z.enum(JWT_ALGORITHMS),
  /** A string secret: a shared key for HS256, else a private key in PEM or as a JWK. */
  secret_id: uuid().optional(),
  /** Name of a crypto key that signs instead. */
  key_name: z.string().min(1).max(128).optional(),
  issuer: claim().optional(),
  subject: claim().optional(),
  audience: claim().optional(),
  ttl_seconds: z.int().min(30).max(3600).default(300),
  extra_claims: z
    .record(z.string().min(1).max(128), z.unknown())
    .refine((claims) => new TextEncoder().encode(JSON.stringify(claims)).length <= MAX_CLAIMS_BYTES, 'must be at most 4 KiB')
    .superRefine((claims, ctx) => {
      for (const name of OWN_CLAIMS)
        if (Object.hasOwn(claims, name)) ctx.addIssue({ code: 'custom', path: [name], message: 'is set for every token' });
      if (JSON.stringify(claims).includes('{{')) ctx.addIssue({ code: 'custom', message: 'must not contain placeholders' });
    })
    .default({}),
  header_name: z
    .string()
    .regex(TOKEN, 'is not a valid header name')
    .superRefine((name, ctx) => {
      const problem = headerNameProblem(name);
      if (problem && TOKEN.test(name)) ctx.addIssue({ code: 'custom', message: problem });
    })
    .default('Authorization'),
  value_prefix: z
    .string()
    .max(64)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .default('Bearer '),
});

/** As it is stored and answered. */
export const UpstreamAuth = z.discriminatedUnion('type', [AwsSigV4, JwtBearer]);
export type UpstreamAuth = z.output<typeof UpstreamAuth>;

/** As it is written: `none` on an override turns off what the base has. */
export const upstreamAuth = () =>
  z.discriminatedUnion('type', [
    AwsSigV4,
    JwtBearer.superRefine(({ secret_id, key_name }, ctx) => {
      if ((secret_id === undefined) === (key_name === undefined))
        ctx.addIssue({ code: 'custom', path: ['secret_id'], message: 'requires either secret_id or key_name, not both' });
    }),
    z.object({ type: z.literal('none') }),
  ]);

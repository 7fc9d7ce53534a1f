import { z } from 'zod';
import { CreatedCertificate, certificateFields } from './certificates/schema.ts';
import { CreatedConnection, connectionFields } from './connections/schema.ts';
import { CreatedString, StringSecret } from './schema.ts';

/** What `secret_type` may say, and what is stored and answered. */
const TYPES = {
  string: 'string',
  api_key: 'string',
  basic_auth: 'string',
  custom: 'string',
  static: 'string',
  oauth2: 'oauth2',
  oauth2_token: 'oauth2',
  certificate: 'certificate',
} as const;
type SecretType = (typeof TYPES)[keyof typeof TYPES];

const typed = z.object({ ...connectionFields, ...certificateFields }).partial().shape;

/** The fields that only one type has. Material of another type, lost silently, would be believed stored. */
const OWN: Readonly<Record<SecretType, readonly string[]>> = {
  string: ['value', 'rotate_every_days'],
  oauth2: Object.keys(connectionFields),
  certificate: Object.keys(certificateFields),
};
const NEEDED: Readonly<Record<SecretType, readonly string[]>> = {
  string: [],
  oauth2: ['provider', 'client_id'],
  certificate: ['certificate_content'],
};
const INSTEAD: Readonly<Record<SecretType, string>> = {
  string: 'for string secrets, send value',
  oauth2: 'a connection fetches its value from the provider',
  certificate: 'for certificates, send certificate_content',
};

/** A secret of any type (interface rule 30 §4): `secret_type` says which of the fields belong to it. */
export const CreateSecret = StringSecret.extend({
  secret_type: z
    .enum(Object.keys(TYPES) as [keyof typeof TYPES])
    .transform((given): SecretType => TYPES[given])
    .default('string'),
  ...typed,
}).superRefine((given, ctx) => {
  const values = given as Record<string, unknown>;
  const report = (field: string, message: string) => ctx.addIssue({ code: 'custom', path: [field], message, input: undefined });
  for (const [type, fields] of Object.entries(OWN))
    if (type !== given.secret_type)
      for (const field of fields)
        if (values[field] !== undefined) report(field, `belongs to another secret type; ${INSTEAD[given.secret_type]}`);
  for (const field of NEEDED[given.secret_type])
    if (values[field] === undefined) report(field, `is required for ${given.secret_type} secrets`);
});

/** What every type answers, then what only one does. */
export const CreatedSecret = CreatedString.extend({
  ...CreatedConnection.pick({
    provider: true,
    grant_type: true,
    scopes: true,
    redirect_uri: true,
    connection_status: true,
    authorization_url: true,
  }).partial().shape,
  ...CreatedCertificate.pick({ certificate_type: true, metadata: true }).partial().shape,
}).meta({ id: 'CreatedSecret' });

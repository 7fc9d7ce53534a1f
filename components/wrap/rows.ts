import type { z } from 'zod';
import type { WrapCredential } from '#server/domain/wrap/schema.ts';

export type CredentialRow = z.output<typeof WrapCredential>;

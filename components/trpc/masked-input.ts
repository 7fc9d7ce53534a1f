import { masked, type SecretFields } from '#server/domain/explorer/masking.shared.ts';

/** The input of a procedure without what its fields mark as secret. */
export const shown = (procedure: string, input: unknown, secretFields: SecretFields): unknown =>
  masked(input, new Set(secretFields[procedure]));

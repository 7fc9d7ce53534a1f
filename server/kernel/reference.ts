/**
 * What the API reference says beyond the schemas. Each family has its own in `reference.ts`; a field without an example gets one from its type.
 */
export type Examples = Readonly<Record<string, unknown>>;

/** By operation id: what it does, and what a successful response holds. */
export type Described = Readonly<Record<string, { description: string; success: string }>>;

export const EXAMPLE_ID = '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f';
export const EXAMPLE_TIME = '2026-01-31T09:30:00.000Z';

/** Examples that fit every family. */
export const sharedExamples: Examples = {
  id: EXAMPLE_ID,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  collection_id: null,
  sandbox: false,
  enabled: true,
  active: true,
};

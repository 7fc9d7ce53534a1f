import { nothing, type Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = { 'scim_users.list': nothing };

/** People of a directory belong to the workspace. */
export const ofWorkspace = true;

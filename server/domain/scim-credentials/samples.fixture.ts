import { fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor } from '#server/testing/workspace.ts';

const credential: Sample = async () => ({
  name: fresh('directory'),
  expires_at: new Date(Date.now() + 30 * 24 * 3_600_000).toISOString(),
});

/** Made by another Owner: whether the caller has a second factor is up to the tests. */
const credentialId: Sample = async (ctx) => {
  const owner = { ...ctx, actor: memberActor('owner') };
  await verified(owner, 'scim.credential');
  return { id: (await made(owner, 'scim_credentials.create', await credential(ctx))).credential.id };
};

export const samples: Record<string, Sample> = {
  'scim_credentials.status': nothing,
  'scim_credentials.list': nothing,
  'scim_credentials.create': credential,
  'scim_credentials.delete': credentialId,
  'scim_credentials.requests': nothing,
};

/** Credentials of both spaces belong to the workspace. */
export const ofWorkspace = true;

export const shownOnce = { 'scim_credentials.create': ['token'] };

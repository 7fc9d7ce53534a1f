import { fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor } from '#server/testing/workspace.ts';

const policy: Sample = async () => ({ name: fresh('policy'), actions: ['log:read_payload'], subjects: { roles: ['editor'] } });

/** Made by another Owner: whether the caller has a second factor is up to the tests. */
const policyId: Sample = async (ctx) => {
  const owner = { ...ctx, actor: memberActor('owner') };
  await verified(owner, 'policy.change');
  return { id: (await made(owner, 'policies.create', await policy(ctx))).id };
};

export const samples: Record<string, Sample> = {
  'policies.list': nothing,
  'policies.get': policyId,
  'policies.create': policy,
  'policies.update': async (ctx) => ({ ...(await policyId(ctx)), reason: 'Payloads hold personal data' }),
  'policies.delete': policyId,
  'policies.denials': policyId,
  'policies.candidates': nothing,
  'policies.test': async () => ({ caller: { role: 'editor' }, capability: 'route:delete' }),
  'policies.preview': async () => ({ draft: { actions: ['log:read_payload'], subjects: { roles: ['editor'] } } }),
};

export const dependsOnState = [
  /doesn't exist in this workspace|is not a member of this workspace|is not an active API key|can only narrow|exactly one of/i,
];

/** Policies hold in both spaces. */
export const ofWorkspace = true;

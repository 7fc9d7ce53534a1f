import { type ResourceAct, ResourcePolicies } from '#components/policies/resource-policies.tsx';
import { type KeyUse, keyTypeCan } from '#server/domain/crypto-keys/key-types.shared.ts';
import type { Detail } from './key-labels.ts';

/** `for` where only some types of keys can. */
const ACTS: readonly (ResourceAct & { for?: KeyUse })[] = [
  { label: 'Encrypt', capability: 'transit:encrypt', for: 'encrypt' },
  { label: 'Decrypt', capability: 'transit:decrypt', for: 'decrypt' },
  { label: 'Rewrap', capability: 'transit:rewrap', for: 'rewrap' },
  { label: 'Sign', capability: 'transit:sign', for: 'sign' },
  { label: 'Verify', capability: 'transit:verify', for: 'verify' },
  { label: 'View', capability: 'transit:read' },
  { label: 'Edit', capability: 'transit:update' },
  { label: 'Rotate', capability: 'transit:rotate' },
  { label: 'Destroy', capability: 'transit:destroy' },
];

export const PoliciesTab = ({ crypto }: { crypto: Detail }) => (
  <ResourcePolicies
    noun="key"
    resource={crypto}
    acts={ACTS.filter((one) => one.for === undefined || keyTypeCan(crypto.key_type, one.for))}
    prefix="transit"
    idea="To keep a service from decrypting, make a policy that names this key as its resource."
  />
);

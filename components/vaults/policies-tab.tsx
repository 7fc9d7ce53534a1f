import { type ResourceAct, ResourcePolicies } from '#components/policies/resource-policies.tsx';
import type { Detail } from './vault-labels.ts';

const ACTS: readonly ResourceAct[] = [
  { label: 'Tokenize', capability: 'vault:tokenize' },
  { label: 'List tokens', capability: 'vault:list_tokens' },
  { label: 'Detokenize', capability: 'vault:detokenize' },
  { label: 'Change metadata', capability: 'vault:update_token' },
  { label: 'Delete tokens', capability: 'vault:delete_token' },
  { label: 'View', capability: 'vault:read' },
  { label: 'Edit', capability: 'vault:update' },
  { label: 'Rotate', capability: 'vault:rotate' },
  { label: 'Delete', capability: 'vault:delete' },
];

export const PoliciesTab = ({ vault }: { vault: Detail }) => (
  <ResourcePolicies
    noun="vault"
    resource={vault}
    acts={ACTS}
    prefix="vault"
    idea="A policy can let one service tokenize and another detokenize: name this vault as its resource."
  />
);

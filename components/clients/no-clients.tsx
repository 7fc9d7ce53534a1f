import { Network } from 'lucide-react';
import type { ReactNode } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';

/** A space without clients: what one is for, and the ways to the first. */
export function NoClients({ create, createMine }: { create: ReactNode; createMine: ReactNode }) {
  const { api_url } = useScope();
  return (
    <EmptyState
      icon={<Network />}
      title="No clients yet"
      action={create}
      link={createMine}
      command={[
        {
          id: 'curl',
          label: 'curl',
          language: 'bash',
          code: `curl -X POST ${api_url}/clients \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"billing-worker","ip_address":"203.0.113.7"}'`,
        },
      ]}
    >
      A client is a caller identified by its IP address. Routes can accept only the clients you assign to them.
    </EmptyState>
  );
}

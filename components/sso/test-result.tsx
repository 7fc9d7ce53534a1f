'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';

const POLL_MS = 2_000;

/** What the test that has just come back showed: the claims, and what a real sign-in would do. */
export function TestResult({ id }: { id: string }) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.sso.testResult.queryOptions({ id }, { retry: false }),
    refetchInterval: ({ state }) => (state.data?.status === 'waiting' ? POLL_MS : false),
  });
  const result = query.data;
  if (query.isError) return <Callout title="The result of this test is no longer kept. Run it again." />;
  if (!result || result.status === 'waiting') return <Callout title="Waiting for the test sign-in to come back." />;
  if (result.status === 'expired') return <Callout tone="warn" title="The test sign-in didn’t come back in time. Run it again." />;
  const { claims } = result;
  const ok = result.status === 'succeeded';
  return (
    <SectionCard title="Test sign-in" description="Nothing was changed, and nobody was signed in.">
      <Callout tone={ok ? 'good' : 'bad'} title={ok ? 'The connection works.' : (result.message ?? 'The test failed.')}>
        {ok ? result.outcome : undefined}
      </Callout>
      {claims && (
        <KeyValueList
          className="mt-3"
          items={[
            { label: 'Issuer', value: claims.issuer },
            { label: 'Subject', value: claims.subject },
            { label: 'Email', value: claims.email ?? 'not sent' },
            { label: 'Email verified', value: claims.email_verified ? 'Yes' : 'No' },
            { label: 'Name', value: claims.name ?? 'not sent' },
            {
              label: 'Second factor',
              value: claims.mfa ? 'Asserted' : 'Not asserted',
              hint: claims.methods.length > 0 ? claims.methods.join(', ') : undefined,
            },
          ]}
        />
      )}
    </SectionCard>
  );
}

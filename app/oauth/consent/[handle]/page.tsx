import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { ConsentView } from '#components/oauth/consent-view.tsx';
import { DecisionData } from '#components/oauth/decision-data.tsx';
import { LoginOver } from '#components/oauth/login-over.tsx';
import { consentPageState } from '#server/auth/consent-pages.ts';

export const metadata: Metadata = { title: 'Allow access' };

type Props = { params: Promise<{ handle: string }>; searchParams: Promise<Partial<Record<'workspace' | 'problem', string | string[]>>> };

/** Where a person decides on the login of an application (interface rule 21 §7). */
export default async function ConsentPage({ params, searchParams }: Props) {
  const [{ handle }, { workspace, problem }] = await Promise.all([params, searchParams]);
  const found = await consentPageState(await headers(), handle, typeof workspace === 'string' ? workspace : null);
  if (found.state === 'over') return <LoginOver />;
  if (found.state === 'skip') redirect(`/auth/oauth/consent/${handle}`);
  if (found.state === 'sign_in') {
    const query = new URLSearchParams({ next: `/oauth/consent/${handle}` });
    if (found.login_hint?.includes('@')) query.set('email', found.login_hint);
    redirect(`/signin?${query}`);
  }
  const { view, decider } = found;
  return (
    <DecisionData decider={decider} slug={view.chosen?.slug ?? ''} space={view.space}>
      <ConsentView handle={handle} view={view} decider={decider} problem={typeof problem === 'string' ? problem : null} />
    </DecisionData>
  );
}

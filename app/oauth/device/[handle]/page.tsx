import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { DecisionData } from '#components/oauth/decision-data.tsx';
import { DeviceView } from '#components/oauth/device-view.tsx';
import { DeviceDecided, LoginOver } from '#components/oauth/login-over.tsx';
import { devicePageState } from '#server/auth/consent-pages.ts';

export const metadata: Metadata = { title: 'Connect a device' };

type Props = {
  params: Promise<{ handle: string }>;
  searchParams: Promise<Partial<Record<'workspace' | 'problem' | 'code', string | string[]>>>;
};

/** Where a person decides on the login of a device that shows them a code (interface rule 21 §6). */
export default async function DevicePage({ params, searchParams }: Props) {
  const [{ handle }, query] = await Promise.all([params, searchParams]);
  if (handle === 'approved' || handle === 'denied') return <DeviceDecided decision={handle} />;
  const [workspace, code, problem] = [query.workspace, query.code, query.problem].map((one) => (typeof one === 'string' ? one : null)) as (
    | string
    | null
  )[];
  const found = await devicePageState(await headers(), handle, { workspace: workspace ?? null, code: code ?? null });
  if (found.state === 'sign_in')
    redirect(`/signin?next=${encodeURIComponent(`/oauth/device/${handle}${code ? `?code=${encodeURIComponent(code)}` : ''}`)}`);
  if (found.state === 'over') return <LoginOver device />;
  const { view, decider } = found;
  return (
    <DecisionData decider={decider} slug={view.chosen?.slug ?? ''} space={view.space}>
      <DeviceView handle={handle} view={view} decider={decider} problem={problem ?? null} />
    </DecisionData>
  );
}

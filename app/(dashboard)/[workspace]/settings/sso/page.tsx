import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { SsoView } from '#components/sso/sso-view.tsx';

export const metadata: Metadata = { title: 'Single sign-on' };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<{ test?: string | string[] }> };

export default async function SsoPage({ params, searchParams }: Props) {
  const [{ workspace }, { test }] = await Promise.all([params, searchParams]);
  return (
    <Prefetch workspace={workspace} space="live" queries={(trpc) => [trpc.sso.list.queryOptions({}), trpc.sso.settings.queryOptions({})]}>
      <SsoView test={typeof test === 'string' ? test : undefined} />
    </Prefetch>
  );
}

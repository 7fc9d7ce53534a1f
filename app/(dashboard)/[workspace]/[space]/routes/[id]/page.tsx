import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { RouteDetail } from '#components/routes/route-detail.tsx';

export const metadata: Metadata = { title: 'Route' };

type RoutePageProps = { params: Promise<{ workspace: string; space: string; id: string }> };

export default async function RoutePage({ params }: RoutePageProps) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.routes.get.queryOptions({ id }), trpc.environments.list.queryOptions({})]}
    >
      <RouteDetail id={id} />
    </Prefetch>
  );
}

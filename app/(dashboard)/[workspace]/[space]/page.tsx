import type { Metadata } from 'next';
import { Suspense } from 'react';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { LatestNews } from '#components/changelog/latest-news.tsx';
import { Home } from '#components/home/home.tsx';
import { GoLive } from './go-live.tsx';

export const metadata: Metadata = { title: 'Home' };

export default async function HomePage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [
        trpc.requestLogs.browse.queryOptions({ per_page: 8 }),
        trpc.routes.list.queryOptions({ per_page: 1 }),
        trpc.routes.list.queryOptions({ sort: 'created_at', order: 'asc', per_page: 5, enabled: true }),
        trpc.apiKeys.list.queryOptions({ per_page: 1 }),
      ]}
    >
      <Home
        news={<LatestNews />}
        goLive={
          space === 'test' && (
            <Suspense fallback={null}>
              <GoLive workspace={workspace} />
            </Suspense>
          )
        }
      />
    </Prefetch>
  );
}

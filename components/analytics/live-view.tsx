'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Pause, Play, Radio } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Stat } from '#components/ui/stat.tsx';
import { useStored } from '#components/ui/use-stored.ts';
import { type Arc, inkOf } from './arcs.ts';
import { LiveFeed } from './live-feed.tsx';

const WorldMap = lazyPart(() => import('./world-map.tsx').then((module) => module.WorldMap));

const EVERY_MS = 2_000;

/** Calls as they happen. The map is off until somebody wants it: it shows where people are. */
export function LiveView() {
  const trpc = useTRPC();
  const blind = useForbidden('log:read_identity');
  const [stored, setStored] = useStored('live-map', 'off');
  const [paused, setPaused] = useState(false);
  const map = stored === 'on' && !blind;
  const live = useQuery(
    trpc.requestLogs.live.queryOptions({ places: map }, { refetchInterval: paused ? false : EVERY_MS, placeholderData: keepPreviousData }),
  );
  const { data } = live;
  const minutes = data?.minutes ?? [];
  const total = (of: 'calls' | 'errors') => minutes.reduce((sum, one) => sum + one[of], 0);
  // The minute at hand is not over.
  const lastMinute = minutes.at(-2)?.calls;
  // The newest is drawn last, over the others.
  const arcs: Arc[] = (data?.calls ?? [])
    .toReversed()
    .flatMap(({ request_id: id, from, to, status_code }) => (from ? { id, from, to, ink: inkOf(status_code) } : []));
  return (
    <Page>
      <PageHeader
        title="Live map"
        description="Calls through the gateway as they happen. Calls from the Test tab are not shown."
        actions={
          <>
            <Switch
              label="Show map"
              checked={map}
              disabledReason={blind}
              onCheckedChange={(on) => setStored(on ? 'on' : 'off')}
              className="items-center"
            />
            <Button icon={paused ? <Play /> : <Pause />} onClick={() => setPaused(!paused)}>
              {paused ? 'Resume' : 'Pause'}
            </Button>
          </>
        }
      />
      {live.isError && !data ? (
        <QueryError query={live} what="Live calls" />
      ) : (
        <>
          <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
            <Stat
              label="Calls in the last minute"
              value={grouped(lastMinute) ?? '…'}
              trend={minutes.length > 1 ? minutes.slice(0, -1).map(({ calls }) => calls) : [0, 0]}
            />
            <Stat label="Calls, 15 minutes" value={data ? (grouped(total('calls')) ?? '') : '…'} />
            <Stat label="Failed, 15 minutes" value={data ? (grouped(total('errors')) ?? '') : '…'} />
            <Stat label="Active routes" value={grouped(data?.active_routes) ?? '…'} />
          </div>
          {map && data?.places === 'unavailable' && (
            <Callout title="Locations are not available">
              This deployment has no database of locations. Whoever operates it can set GEOIP_DB_PATH; calls are listed below.
            </Callout>
          )}
          {map && data?.places === 'shown' && (
            <SectionCard
              title="Map"
              description="From the caller’s city to the upstream’s. Green is 2xx, yellow is 3xx, red is 4xx or 5xx. Private and unknown addresses are left out."
            >
              <WorldMap
                arcs={arcs}
                label={`World map with ${counted(arcs.length, 'call')} of the newest ${data.calls.length.toString()}. The table below lists them.`}
              />
            </SectionCard>
          )}
          {data?.calls.length === 0 ? (
            <EmptyState icon={<Radio />} title="No calls in the last 10 minutes">
              This page lists the next call as soon as it is made.
            </EmptyState>
          ) : (
            <LiveFeed calls={data?.calls} withPlaces={map && data?.places === 'shown'} />
          )}
        </>
      )}
    </Page>
  );
}

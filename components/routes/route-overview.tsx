'use client';

import { Status } from '#components/ui/badge.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';
import type { Config } from './config-draft.ts';
import { hostOf } from './host.ts';
import { LatestCalls } from './latest-calls.tsx';
import type { RouteDetailData } from './route-data.ts';
import { RouteSnippets } from './route-snippets.tsx';

/** The last thing on the page: its code comes when the rest is there. */
const RecentChanges = lazyOverlay(
  () => import('./recent-changes.tsx').then((module) => module.RecentChanges),
  () => false,
);

export type RouteOverviewProps = { route: RouteDetailData; env: string; config: Config; colors: ReadonlyMap<string, string> };

/** A route at a glance: how it is called, where it serves, and what it does in this environment. */
export function RouteOverview({ route, env, config, colors }: RouteOverviewProps) {
  const label = useEnvironmentLabel();
  const named = env === route.base_environment ? undefined : env;
  return (
    <Split
      side={
        <>
          <SectionCard title={`Settings in ${label(env)}`}>
            <KeyValueList items={factsOf(config)} />
          </SectionCard>
          <SectionCard title="Environments">
            <ul className="flex flex-col gap-2">
              {route.environments.map((one) => (
                <li key={one.environment_name} className="flex items-center justify-between gap-3">
                  <span className="min-w-0 max-w-1/2 shrink-0 truncate">
                    <EnvironmentDot name={one.environment_name} color={colors.get(one.environment_name) ?? ''} />
                  </span>
                  <span className="min-w-0 flex-1 truncate font-mono text-ink-3 text-xs">{hostOf(one.target_base_url)}</span>
                  <Status state={one.enabled ? 'ok' : 'off'}>{one.enabled ? 'Active' : 'Paused'}</Status>
                </li>
              ))}
            </ul>
          </SectionCard>
          <SectionCard title="Route">
            <KeyValueList
              items={[
                { label: 'ID', value: undefined, copy: route.id },
                { label: 'Slug', value: route.slug ?? 'None', ...(route.slug ? { copy: route.slug } : {}) },
                { label: 'Created', value: <Time value={route.created_at} format="datetime" /> },
                { label: 'Updated', value: <Time value={route.updated_at} /> },
              ]}
            />
          </SectionCard>
        </>
      }
    >
      <SectionCard title="Example call">
        <RouteSnippets reference={route.slug ?? route.id} environment={named} />
      </SectionCard>
      <SectionCard title="Recent requests">
        <LatestCalls routeId={route.id} />
      </SectionCard>
      <SectionCard title="Recent changes">
        <RecentChanges resourceId={route.id} />
      </SectionCard>
    </Split>
  );
}

/** The settings that decide what happens to a call, in words. */
function factsOf(config: Config) {
  const headers = Object.keys(config.inject_headers_json);
  return [
    { label: 'Upstream', value: hostOf(config.target_base_url) },
    { label: 'Injected headers', value: headers.length > 0 ? headers.join(', ') : 'None' },
    { label: 'Methods', value: config.http_method_restrictions_enabled ? (config.allowed_methods ?? []).join(', ') : 'All' },
    { label: 'Callers', value: config.requires_clients ? 'Assigned clients' : 'Any API key' },
    { label: 'IP allowlist', value: config.ip_allowlist.length > 0 ? config.ip_allowlist.join(', ') : 'Any' },
    {
      label: 'Rate limit',
      value: config.rate_limit_enabled
        ? `${grouped(config.rate_limit_requests) ?? '?'} calls per ${grouped(config.rate_limit_window_sec) ?? '?'} s`
        : 'None',
    },
    { label: 'Timeout', value: `${grouped(config.timeout_ms)} ms` },
    { label: 'Retries', value: config.retry_attempts === 0 ? 'None' : config.retry_attempts.toString() },
  ];
}

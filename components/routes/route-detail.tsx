'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { usePathname, useSearchParams } from 'next/navigation';
import { createParser, parseAsString, useQueryStates } from 'nuqs';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import type { RouteDetailData } from './route-data.ts';
import { RouteHeader } from './route-header.tsx';
import { RouteSection } from './route-section.tsx';
import { TAB_LABELS, TABS, type Tab, tabOf } from './route-tabs.ts';
import { useConfigEditor } from './use-config-editor.ts';

const UnsavedChanges = lazyPart(() => import('./unsaved-changes.tsx').then((module) => module.UnsavedChanges));
const DriftBanner = lazyPart(() => import('./drift-banner.tsx').then((module) => module.DriftBanner));

const parseAsTab = createParser({ parse: tabOf, serialize: (tab: Tab) => tab }).withDefault('overview');

/** One route. The environment chosen at the top is the one its tabs are about. */
export function RouteDetail({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const route = useQuery(trpc.routes.get.queryOptions({ id }, { placeholderData: keepPreviousData }));
  if (route.error && !route.data) {
    return (
      <Page>
        <PageHeader title="Route" back={{ href: path('/routes'), label: 'Routes' }} />
        <QueryError
          query={route}
          what="Route"
          actions={
            <LinkButton size="sm" href={path('/routes')}>
              View routes
            </LinkButton>
          }
        />
      </Page>
    );
  }
  if (!route.data) {
    return (
      <Page>
        <Skeleton lines={6} label="Loading route" />
      </Page>
    );
  }
  return <LoadedRoute route={route.data} />;
}

function LoadedRoute({ route }: { route: RouteDetailData }) {
  const trpc = useTRPC();
  const pathname = usePathname();
  const params = useSearchParams();
  const readOnly = useForbidden('route:update');
  const [{ tab, env: wanted }, setPlace] = useQueryStates({ tab: parseAsTab, env: parseAsString });
  const label = useEnvironmentLabel();
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const all = environments.data?.data ?? [];
  const base = route.environments.find((one) => one.environment_name === route.base_environment) ?? route.environments[0];
  const env = wanted ?? base?.environment_name ?? '';
  const config = route.environments.find((one) => one.environment_name === env);
  if (!base) throw new Error('a route has a base configuration');
  const editor = useConfigEditor({
    routeId: route.id,
    env,
    config: config ?? base,
    base,
    updated_at: route.updated_at,
    environments: route.environments,
    readOnly,
  });
  const colors = new Map(all.map((one) => [one.name, one.color]));
  useHotkeys([
    { keys: 'e', label: 'Edit configuration', group: 'This page', run: () => void setPlace({ tab: 'config' }, { history: 'push' }) },
    { keys: 't', label: 'Test route', group: 'This page', run: () => readOnly || void setPlace({ tab: 'test' }, { history: 'push' }) },
  ]);
  const choose = (name: string) => void setPlace({ env: name === base.environment_name ? null : name });
  const hrefOf = (to: Tab) => {
    const next = new URLSearchParams(params);
    if (to === 'overview') next.delete('tab');
    else next.set('tab', to);
    next.delete('view');
    const text = next.toString();
    return text ? `${pathname}?${text}` : pathname;
  };
  return (
    <Page>
      <Crumbs crumbs={[{ label: route.name }]} />
      <RouteHeader route={route} readOnly={readOnly} pausedIn={config?.enabled === false ? env : undefined}>
        <Select
          label="Environment"
          options={all.map((one) => ({
            value: one.name,
            label: editor.dirtyEnvironments.includes(one.name) ? `${label(one.name)} (unsaved)` : label(one.name),
            icon: <EnvironmentDot bare name={one.name} color={one.color} />,
            detail:
              one.name === base.environment_name
                ? 'base'
                : route.configured_environments.includes(one.name)
                  ? 'override'
                  : 'not configured',
          }))}
          value={env}
          onValueChange={choose}
          className="w-64 max-w-full"
        />
      </RouteHeader>
      {route.collection_id && <DriftBanner routeId={route.id} collectionId={route.collection_id} />}
      <TabLinks
        label="Route sections"
        tabs={TABS.map((one) => ({
          href: hrefOf(one),
          label: TAB_LABELS[one],
          active: one === tab,
          onSelect: () => void setPlace({ tab: one === 'overview' ? null : one }, { history: 'push' }),
        }))}
      />
      {editor.left && <UnsavedChanges left={editor.left} />}
      <RouteSection {...{ tab, route, env, config, base, editor, colors, readOnly }} named={wanted ?? undefined} onEnvironment={choose} />
    </Page>
  );
}

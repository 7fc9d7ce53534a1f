'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowRightLeft, Link2, Plus } from 'lucide-react';
import { usePathname, useSearchParams } from 'next/navigation';
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { DraftOffer } from '#components/trpc/form-draft.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { CopyButton } from '#components/ui/copy.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazily.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { EmptyState } from '#components/ui/states.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { DriftBanner } from './drift-banner.tsx';
import type { RouteDetailData } from './route-data.ts';
import { RouteIcon } from './route-icon.tsx';
import { RouteOverview } from './route-overview.tsx';
import { SaveBar } from './save-bar.tsx';
import { type ConfigEditor, useConfigEditor } from './use-config-editor.ts';
import { useEnableRoutes } from './use-enable-routes.ts';
import { useRouteIcons } from './use-icons.ts';

const ConfigTab = lazyTab(() => import('./config-tab.tsx').then((module) => module.ConfigTab));
const DifferencesTab = lazyTab(() => import('./differences-tab.tsx').then((module) => module.DifferencesTab));
const JsonTab = lazyTab(() => import('./json-tab.tsx').then((module) => module.JsonTab));
const LimitsTab = lazyTab(() => import('./limits-tab.tsx').then((module) => module.LimitsTab));
const MethodsTab = lazyTab(() => import('./methods-tab.tsx').then((module) => module.MethodsTab));
const RouteCalls = lazyTab(() => import('./route-calls.tsx').then((module) => module.RouteCalls));
const RouteSettingsTab = lazyTab(() => import('./route-settings-tab.tsx').then((module) => module.RouteSettingsTab));
const SecurityTab = lazyTab(() => import('./security-tab.tsx').then((module) => module.SecurityTab));
const TestTab = lazyTab(() => import('./tester/test-tab.tsx').then((module) => module.TestTab));
const UpstreamTab = lazyTab(() => import('./upstream-tab.tsx').then((module) => module.UpstreamTab));

const TABS = [
  'overview',
  'config',
  'methods',
  'security',
  'limits',
  'upstream',
  'differences',
  'json',
  'test',
  'requests',
  'activity',
  'settings',
] as const;
type Tab = (typeof TABS)[number];
const labels: Record<Tab, string> = {
  overview: 'Overview',
  config: 'Config',
  methods: 'Methods',
  security: 'Security',
  limits: 'Limits',
  upstream: 'Upstream',
  differences: 'Differences',
  json: 'JSON',
  test: 'Test',
  requests: 'Requests',
  activity: 'Activity',
  settings: 'Settings',
};
/** Tabs whose fields belong to one environment and are saved together. */
const EDITED: ReadonlySet<Tab> = new Set<Tab>(['config', 'methods', 'security', 'limits', 'upstream', 'differences', 'json']);

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
          what="The route"
          actions={
            <LinkButton size="sm" href={path('/routes')}>
              All routes
            </LinkButton>
          }
        />
      </Page>
    );
  }
  if (!route.data) {
    return (
      <Page>
        <Skeleton lines={6} label="Loading the route" />
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
  const [{ tab, env: wanted }, setPlace] = useQueryStates({ tab: parseAsStringLiteral(TABS).withDefault('overview'), env: parseAsString });
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
    { keys: 'e', label: 'Edit the configuration', group: 'This page', run: () => void setPlace({ tab: 'config' }, { history: 'push' }) },
    { keys: 't', label: 'Test the route', group: 'This page', run: () => readOnly || void setPlace({ tab: 'test' }, { history: 'push' }) },
  ]);
  const hrefOf = (to: Tab) => {
    const next = new URLSearchParams(params);
    if (to === 'overview') next.delete('tab');
    else next.set('tab', to);
    const text = next.toString();
    return text ? `${pathname}?${text}` : pathname;
  };
  return (
    <Page>
      <Crumbs crumbs={[{ label: route.name }]} />
      <RouteHeader route={route} readOnly={readOnly}>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Select
            label="Environment"
            options={all.map((one) => ({
              value: one.name,
              label: editor.dirtyEnvironments.includes(one.name) ? `${one.name} (unsaved)` : one.name,
              icon: <EnvironmentDot bare name={one.name} color={one.color} />,
              detail:
                one.name === base.environment_name
                  ? 'base'
                  : route.configured_environments.includes(one.name)
                    ? 'override'
                    : 'not served yet',
            }))}
            value={env}
            onValueChange={(name) => void setPlace({ env: name === base.environment_name ? null : name })}
            className="w-56"
          />
          {config && <PauseSwitch editor={editor} routeEnabled={route.enabled} />}
        </div>
      </RouteHeader>
      {route.collection_id && <DriftBanner routeId={route.id} collectionId={route.collection_id} />}
      <TabLinks
        label="Sections of the route"
        tabs={TABS.map((one) => ({
          href: hrefOf(one),
          label: labels[one],
          active: one === tab,
          onSelect: () => void setPlace({ tab: one === 'overview' ? null : one }, { history: 'push' }),
        }))}
      />
      {editor.left && (
        <DraftOffer draft={editor.left.draft} labels={editor.left.labels} onRestore={editor.left.restore} onDiscard={editor.left.discard} />
      )}
      {!config && tab !== 'requests' && tab !== 'activity' && tab !== 'settings' ? (
        <ServeHere route={route} env={env} readOnly={readOnly} />
      ) : (
        <>
          {tab === 'overview' && config && <RouteOverview route={route} env={env} config={config} colors={colors} />}
          {tab === 'config' && <ConfigTab key={env} editor={editor} routeName={route.name} />}
          {tab === 'methods' && <MethodsTab editor={editor} />}
          {tab === 'security' && <SecurityTab editor={editor} />}
          {tab === 'limits' && <LimitsTab editor={editor} />}
          {tab === 'upstream' && <UpstreamTab editor={editor} />}
          {tab === 'json' && <JsonTab key={env} editor={editor} base={base} />}
          {tab === 'differences' && (
            <DifferencesTab
              route={route}
              editor={editor}
              colors={colors}
              onEnvironment={(name) => void setPlace({ env: name === base.environment_name ? null : name })}
            />
          )}
          {tab === 'test' && (
            <TestTab key={env} route={route} env={env} readOnly={readOnly} unsaved={editor.dirtyEnvironments.length > 0} />
          )}
          {tab === 'requests' && <RouteCalls routeId={route.id} {...(wanted ? { environment: wanted } : {})} />}
          {tab === 'activity' && <Activity resource_id={route.id} />}
          {tab === 'settings' && <RouteSettingsTab route={route} env={env} readOnly={readOnly} />}
          {EDITED.has(tab) && config && <SaveBar editor={editor} />}
        </>
      )}
    </Page>
  );
}

function RouteHeader({ route, readOnly, children }: { route: RouteDetailData; readOnly: string | undefined; children: React.ReactNode }) {
  const { proxy_url, space } = useScope();
  const path = usePath();
  const stays = useForbidden('sandbox:promote');
  const enable = useEnableRoutes();
  const icons = useRouteIcons([route]);
  const enabled = enable.isPending ? enable.variables.enabled : route.enabled;
  const url = `${proxy_url}/${route.slug ?? route.id}`;
  return (
    <PageHeader
      back={{ href: path('/routes'), label: 'Routes' }}
      icon={<RouteIcon name={route.name} icon={icons.get(route.id)} className="size-6" />}
      title={route.name}
      badges={
        <>
          {!enabled && <Badge>switched off</Badge>}
          {route.requires_clients && <Badge tone="accent">clients only</Badge>}
        </>
      }
      description={<span className="font-mono text-xs [overflow-wrap:anywhere]">{url}</span>}
      actions={
        <>
          <CopyButton value={url} label="call URL" text="Copy call URL" size="md" />
          {!stays && (
            <LinkButton icon={<ArrowRightLeft />} href={path(`/promote?items=route:${route.id}`)}>
              {space === 'test' ? 'Promote…' : 'Copy to Test…'}
            </LinkButton>
          )}
          <Switch
            checked={enabled}
            disabledReason={readOnly}
            onCheckedChange={(on) => enable.mutate({ ids: [route.id], enabled: on, name: route.name })}
            label={enabled ? 'On' : 'Off'}
            className="items-center"
          />
        </>
      }
    >
      {children}
    </PageHeader>
  );
}

/** Pausing one environment leaves the others alone; it applies at once. */
function PauseSwitch({ editor, routeEnabled }: { editor: ConfigEditor; routeEnabled: boolean }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const put = useMutation(
    trpc.routes.putEnvironment.mutationOptions({ onSettled: () => cache.invalidateQueries(trpc.routes.pathFilter()) }),
  );
  const serving = put.isPending ? put.variables.enabled === true : editor.config.enabled;
  return (
    <>
      <Switch
        checked={serving}
        disabledReason={editor.readOnly ?? (routeEnabled ? undefined : 'The whole route is switched off.')}
        onCheckedChange={(enabled) => put.mutate({ id: editor.routeId, env: editor.env, enabled })}
        label={serving ? `Serving ${editor.env}` : `Paused in ${editor.env}`}
        className="items-center"
      />
      <MutationError error={put.error} />
    </>
  );
}

function ServeHere({ route, env, readOnly }: { route: RouteDetailData; env: string; readOnly: string | undefined }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const put = useMutation(
    trpc.routes.putEnvironment.mutationOptions({
      onSuccess: () =>
        Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.collections.syncStatus.pathFilter())]),
    }),
  );
  return (
    <>
      <EmptyState
        icon={<Link2 />}
        title={`Not served in ${env}`}
        action={
          <Button
            variant="primary"
            icon={<Plus />}
            loading={put.isPending}
            disabledReason={readOnly}
            onClick={() => put.mutate({ id: route.id, env })}
          >
            Serve {env}
          </Button>
        }
      >
        Calls that name {env} are refused; there is no silent fall-back. Served here, it starts with everything from{' '}
        {route.base_environment}, with the secrets’ values of {env}.
      </EmptyState>
      <MutationError error={put.error} />
    </>
  );
}

'use client';

import { Activity } from '#components/audit/activity-tab.ts';
import { lazyPart, lazyTab } from '#components/ui/lazy.tsx';
import type { Config } from './config-draft.ts';
import type { RouteDetailData } from './route-data.ts';
import { RouteOverview } from './route-overview.tsx';
import { EDITED, OF_THE_ROUTE, type Tab } from './route-tabs.ts';
import type { ConfigEditor } from './use-config-editor.ts';

const AccessTab = lazyTab(() => import('./access-tab.tsx').then((module) => module.AccessTab));
const ConfigTab = lazyTab(() => import('./config-tab.tsx').then((module) => module.ConfigTab));
const FieldsTab = lazyTab(() => import('./fields-tab.tsx').then((module) => module.FieldsTab));
const RouteAnalytics = lazyTab(() => import('#components/analytics/resource-analytics.tsx').then((module) => module.ResourceAnalytics));
const RouteCalls = lazyTab(() => import('./route-calls.tsx').then((module) => module.RouteCalls));
const RouteSettingsTab = lazyTab(() => import('./route-settings-tab.tsx').then((module) => module.RouteSettingsTab));
const SaveBar = lazyPart(() => import('./save-bar.tsx').then((module) => module.SaveBar));
const ServeInEnvironment = lazyPart(() => import('./serve-in-environment.tsx').then((module) => module.ServeInEnvironment));
const TestTab = lazyTab(() => import('./tester/test-tab.tsx').then((module) => module.TestTab));

type RouteSectionProps = {
  tab: Tab;
  route: RouteDetailData;
  env: string;
  /** Of the environment; undefined where the route does not serve it. */
  config: Config | undefined;
  /** Of the base environment, which the others override. */
  base: Config;
  editor: ConfigEditor;
  colors: ReadonlyMap<string, string>;
  readOnly: string | undefined;
  /** The environment as the address names it: without one, the calls of all are listed. */
  named: string | undefined;
  onEnvironment: (name: string) => void;
};

/** What the chosen tab of a route shows. */
export function RouteSection({ tab, route, env, config, base, editor, colors, readOnly, named, onEnvironment }: RouteSectionProps) {
  if (!config && !OF_THE_ROUTE.has(tab)) return <ServeInEnvironment route={route} env={env} readOnly={readOnly} />;
  return (
    <>
      {tab === 'overview' && config && <RouteOverview route={route} env={env} config={config} colors={colors} />}
      {tab === 'config' && <ConfigTab key={env} editor={editor} route={route} base={base} colors={colors} onEnvironment={onEnvironment} />}
      {tab === 'config' && <FieldsTab routeId={route.id} env={env} readOnly={readOnly} />}
      {tab === 'access' && <AccessTab editor={editor} reference={route.slug ?? route.id} />}
      {tab === 'test' && <TestTab key={env} route={route} env={env} readOnly={readOnly} unsaved={editor.dirtyEnvironments.length > 0} />}
      {tab === 'requests' && <RouteCalls routeId={route.id} {...(named ? { environment: named } : {})} />}
      {tab === 'analytics' && (
        <RouteAnalytics of={{ route_id: route.id, environment: named ?? null }} tops={['client', 'api_key', 'error']} />
      )}
      {tab === 'activity' && <Activity resource_id={route.id} />}
      {tab === 'settings' && <RouteSettingsTab route={route} env={env} readOnly={readOnly} />}
      {EDITED.has(tab) && config && <SaveBar editor={editor} />}
    </>
  );
}

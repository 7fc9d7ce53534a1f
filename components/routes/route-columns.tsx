'use client';

import { Gauge, ShieldCheck, Signature } from 'lucide-react';
import type { ReactElement } from 'react';
import { Badge } from '#components/ui/badge.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { type Columns, columnsFor } from '#components/ui/data-table.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { Time } from '#components/ui/time.tsx';
import { DisabledReason, Tooltip } from '#components/ui/tooltip.tsx';
import { hostOf } from './host.ts';
import type { RouteItem } from './use-enable-routes.ts';

export type ColumnContext = {
  colors: ReadonlyMap<string, string>;
  readOnly: string | undefined;
  onEnable: (route: RouteItem, enabled: boolean) => void;
};

const column = columnsFor<RouteItem>();

/** The columns of the list of routes; built once a page from what the cells need to know. */
export function routeColumns({ colors, readOnly, onEnable }: ColumnContext): Columns<RouteItem> {
  return [
    column.accessor('name', {
      header: 'Name',
      meta: { sort: 'name' },
      cell: ({ row: { original: route } }) => <span className={route.enabled ? undefined : 'text-ink-3'}>{route.name}</span>,
    }),
    column.accessor('slug', {
      header: 'Slug',
      meta: { hideBelow: 'lg' },
      cell: ({ getValue }) => {
        const slug = getValue();
        return slug ? <CopyText value={slug} label="slug" className="relative z-10" /> : <span className="text-ink-3">none</span>;
      },
    }),
    column.accessor('target_base_url', {
      header: 'Upstream',
      meta: { hideBelow: 'md', truncate: true, width: '28%' },
      cell: ({ getValue }) => <span className="font-mono text-ink-2 text-xs">{hostOf(getValue())}</span>,
    }),
    column.accessor('base_environment', {
      header: 'Environments',
      meta: { hideBelow: 'sm' },
      cell: ({ row: { original: route } }) => (
        <span className="inline-flex items-center gap-2">
          {route.base_environment && <EnvironmentDot name={route.base_environment} color={colors.get(route.base_environment) ?? ''} />}
          {route.environment_override_count > 0 && (
            <span className="figures text-ink-3 text-xs">+{route.environment_override_count} more</span>
          )}
        </span>
      ),
    }),
    column.display({
      id: 'rules',
      header: 'Rules',
      meta: { hideBelow: 'lg' },
      cell: ({ row: { original: route } }) => <Rules route={route} />,
    }),
    column.accessor('created_at', {
      header: 'Created',
      meta: { hideBelow: 'xl', sort: 'created_at' },
      cell: ({ getValue }) => <Time value={getValue()} className="text-ink-3" />,
    }),
    column.accessor('enabled', {
      header: 'On',
      meta: { sort: 'enabled', width: '3.5rem' },
      cell: ({ row: { original: route } }) => (
        <span className="relative z-10 inline-flex">
          <DisabledReason reason={readOnly}>
            <Switch
              hideLabel
              label={`${route.name} serves calls`}
              checked={route.enabled}
              disabled={readOnly !== undefined}
              onCheckedChange={(enabled) => onEnable(route, enabled)}
            />
          </DisabledReason>
        </span>
      ),
    }),
  ];
}

/** What a call has to pass, as badges and icons that say their name. */
function Rules({ route }: { route: RouteItem }) {
  const methods = route.allowed_methods ?? [];
  const limit =
    route.rate_limit_enabled && route.rate_limit_requests !== null && route.rate_limit_window_sec !== null
      ? `${route.rate_limit_requests.toLocaleString()} calls per ${route.rate_limit_window_sec.toLocaleString()} s`
      : undefined;
  if (methods.length === 0 && !route.requires_clients && !route.require_signature && !limit) return <span className="text-ink-3">—</span>;
  return (
    <span className="relative z-10 inline-flex items-center gap-1.5">
      {methods.slice(0, 3).map((method) => (
        <Badge key={method} mono>
          {method}
        </Badge>
      ))}
      {methods.length > 3 && <span className="text-ink-3 text-xs">+{methods.length - 3}</span>}
      {route.requires_clients && <Fact label="Only assigned clients may call" icon={<ShieldCheck />} />}
      {route.require_signature && <Fact label="Calls must be signed" icon={<Signature />} />}
      {limit && <Fact label={limit} icon={<Gauge />} />}
    </span>
  );
}

function Fact({ label, icon }: { label: string; icon: ReactElement }) {
  return (
    <Tooltip content={label}>
      <span role="img" aria-label={label} className="inline-flex size-5 items-center justify-center text-ink-2 [&_svg]:size-3.5">
        {icon}
      </span>
    </Tooltip>
  );
}

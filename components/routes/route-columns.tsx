'use client';

import { Pause, Signature } from 'lucide-react';
import type { ReactElement } from 'react';
import { Badge } from '#components/ui/badge.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { cn } from '#components/ui/cn.ts';
import { CopyText } from '#components/ui/copy.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { type Columns, columnId, columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { Tooltip } from '#components/ui/tooltip.tsx';
import { CallsCell, ErrorRateCell } from './figure-cells.tsx';
import { hostOf } from './host.ts';
import { RouteIcon } from './route-icon.tsx';
import type { RouteItem } from './use-enable-routes.ts';
import type { Figures } from './use-figures.ts';
import type { Icons } from './use-icons.ts';

export type ColumnContext = {
  colors: ReadonlyMap<string, string>;
  readOnly: string | undefined;
  namesOnly: boolean;
  figures: Figures;
  icons: Icons;
  onEnable: (route: RouteItem, enabled: boolean) => void;
};

const column = columnsFor<RouteItem>();

/** The columns of the list of routes; built once a page from what the cells need to know. */
export function routeColumns({ colors, readOnly, namesOnly, figures, icons, onEnable }: ColumnContext): Columns<RouteItem> {
  const columns = [
    column.accessor('name', {
      header: 'Name',
      enableSorting: true,
      meta: { cap: '14rem' },
      cell: ({ row: { original: route } }) => (
        <span className={cn('inline-flex max-w-full items-center gap-2 align-middle', !route.enabled && 'text-ink-3')}>
          <RouteIcon name={route.name} icon={icons.get(route.id)} />
          <span className="truncate">{route.name}</span>
        </span>
      ),
    }),
    column.accessor('slug', {
      header: 'Slug',
      meta: { hideBelow: 'xl', cap: '11rem' },
      cell: ({ getValue }) => {
        const slug = getValue();
        return slug ? <CopyText value={slug} label="slug" className="relative z-10" /> : <span className="text-ink-3">none</span>;
      },
    }),
    column.accessor('target_base_url', {
      header: 'Upstream',
      meta: { hideBelow: 'md', cap: '10.5rem' },
      cell: ({ getValue }) => <span className="font-mono text-ink-2 text-xs">{hostOf(getValue())}</span>,
    }),
    column.accessor('base_environment', {
      header: 'Environments',
      meta: { hideBelow: 'lg' },
      cell: ({ row: { original: route } }) => <Environments all={environmentsOf(route, figures)} colors={colors} />,
    }),
    column.accessor('requires_clients', {
      header: 'Callers',
      meta: { hideBelow: 'lg' },
      cell: ({ row: { original: route } }) => <Rules route={route} />,
    }),
    column.accessor('rate_limit_requests', {
      header: 'Rate limit',
      meta: { hideBelow: '2xl' },
      cell: ({ row: { original: route } }) => limitOf(route) ?? <span className="text-ink-3">None</span>,
    }),
    column.display({
      id: 'calls',
      header: 'Calls (24 h)',
      meta: { hideBelow: 'sm' },
      cell: ({ row: { original: route } }) => <CallsCell figures={figures} id={route.id} />,
    }),
    column.display({
      id: 'errors',
      header: 'Errors',
      meta: { hideBelow: 'sm', align: 'right' },
      cell: ({ row: { original: route } }) => <ErrorRateCell figures={figures} route={route} />,
    }),
    column.accessor('created_at', {
      header: 'Created',
      enableSorting: true,
      meta: { hideBelow: '2xl' },
      cell: ({ getValue }) => <Time value={getValue()} className="text-ink-3" />,
    }),
    column.accessor('enabled', {
      header: 'On',
      enableSorting: true,
      meta: { width: '3.5rem' },
      cell: ({ row: { original: route } }) => (
        <span className="relative z-10 inline-flex">
          <Switch
            hideLabel
            label={`${route.name} is on`}
            checked={route.enabled}
            disabledReason={readOnly}
            onCheckedChange={(enabled) => onEnable(route, enabled)}
          />
        </span>
      ),
    }),
  ];
  return namesOnly ? columns.filter((one) => !SETTINGS.includes(columnId(one))) : columns;
}

/** What a list of names does not hold. */
const SETTINGS = ['target_base_url', 'requires_clients', 'rate_limit_requests'];

type Served = { name: string; enabled: boolean };

/** Until they are all known, the base, which the list knows by itself. */
const environmentsOf = (route: RouteItem, figures: Figures): readonly Served[] =>
  figures?.get(route.id)?.environments ?? (route.base_environment ? [{ name: route.base_environment, enabled: true }] : []);

/** Two by name; of more the base, and the others as dots behind a count that names them. */
function Environments({ all, colors }: { all: readonly Served[]; colors: ReadonlyMap<string, string> }) {
  const shown = all.length <= 2 ? all : all.slice(0, 1);
  const rest = all.slice(shown.length);
  const spoken = rest.map(({ name, enabled }) => (enabled ? name : `${name} (paused)`)).join(', ');
  return (
    <span className="relative z-10 inline-flex items-center gap-2.5 whitespace-nowrap">
      {shown.map(({ name, enabled }) => (
        <span key={name} className="inline-flex items-center gap-1">
          <EnvironmentDot name={name} color={colors.get(name) ?? ''} />
          {!enabled && <Fact label={`Paused in ${name}`} icon={<Pause />} />}
        </span>
      ))}
      {rest.length > 0 && (
        <Tooltip content={spoken}>
          <button type="button" className="inline-flex items-center gap-0.5 rounded-sm" aria-label={`And ${spoken}`}>
            {rest.slice(0, 6).map(({ name }) => (
              <EnvironmentDot key={name} bare name={name} color={colors.get(name) ?? ''} />
            ))}
            <span aria-hidden className="figures ml-1 text-ink-3 text-xs">
              +{rest.length}
            </span>
          </button>
        </Tooltip>
      )}
    </span>
  );
}

/** Who gets through, and with which methods. */
function Rules({ route }: { route: RouteItem }) {
  const methods = route.allowed_methods ?? [];
  return (
    <span className="relative z-10 inline-flex items-center gap-1.5 whitespace-nowrap">
      {route.requires_clients ? <Badge tone="accent">Assigned clients</Badge> : <span className="text-ink-2">Any key</span>}
      {methods.slice(0, 2).map((method) => (
        <Badge key={method} mono>
          {method}
        </Badge>
      ))}
      {methods.length > 2 && (
        <Tooltip content={methods.join(', ')}>
          <button type="button" aria-label={`Allowed methods: ${methods.join(', ')}`} className="text-ink-3 text-xs">
            +{methods.length - 2}
          </button>
        </Tooltip>
      )}
      {route.require_signature && <Fact label="Signature required" icon={<Signature />} />}
    </span>
  );
}

function limitOf(route: RouteItem) {
  if (!route.rate_limit_enabled || route.rate_limit_requests === null || route.rate_limit_window_sec === null) return undefined;
  const calls = grouped(route.rate_limit_requests);
  const spoken = `${calls} calls per ${grouped(route.rate_limit_window_sec)} s`;
  return (
    <span className="figures whitespace-nowrap" title={spoken}>
      {calls} / {unit(route.rate_limit_window_sec)}
    </span>
  );
}

const UNITS: Readonly<Record<number, string>> = { 1: 's', 60: 'min', 3600: 'h', 86400: 'day' };
const unit = (seconds: number): string => UNITS[seconds] ?? `${grouped(seconds)} s`;

function Fact({ label, icon }: { label: string; icon: ReactElement }) {
  return (
    <Tooltip content={label}>
      <span role="img" aria-label={label} className="inline-flex size-5 items-center justify-center text-ink-2 [&_svg]:size-3.5">
        {icon}
      </span>
    </Tooltip>
  );
}

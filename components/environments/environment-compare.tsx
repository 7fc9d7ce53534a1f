'use client';

import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { ArrowLeftRight, EqualNot, KeyRound } from 'lucide-react';
import { parseAsBoolean, parseAsInteger, parseAsString, useQueryStates } from 'nuqs';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { IconButton, LinkButton } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { cn } from '#components/ui/cn.ts';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { compared, type KnownSecrets, missingSecrets } from './compare.ts';
import { MissingValues, useAllSecrets } from './missing-values.tsx';

const PER_PAGE = 20;

/** Two environments side by side over all routes: what differs, and which secrets have no value on one side. */
export function EnvironmentCompare() {
  const trpc = useTRPC();
  const path = usePath();
  const [{ a, b, page, all }, set] = useQueryStates({
    a: parseAsString,
    b: parseAsString,
    page: parseAsInteger.withDefault(1),
    all: parseAsBoolean.withDefault(false),
  });
  const label = useEnvironmentLabel();
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const list = environments.data?.data ?? [];
  const left = list.find((one) => one.name === a) ?? list[0];
  const right = list.find((one) => one.name === b) ?? list.find((one) => one !== left);
  const routes = useQuery(
    trpc.routes.list.queryOptions({ page, per_page: PER_PAGE, sort: 'name', order: 'asc' }, { placeholderData: keepPreviousData }),
  );
  // One request for the page's routes: the client batches them.
  const configs = useQueries({
    queries: (routes.data?.data ?? []).map((route) => trpc.routes.environments.queryOptions({ id: route.id })),
  });
  const secrets = useAllSecrets();
  const known: KnownSecrets = new Map(
    secrets.flatMap((secret) => [[secret.id, secret] as const, [secret.shortcode_name.toLowerCase(), secret] as const]),
  );

  // The configurations are asked for in one request: where one is refused, all are, and there is nothing to compare.
  const failed = [environments, routes, ...configs].find((query) => query.error && !query.data);
  const options = list.map((one) => ({
    value: one.name,
    label: label(one.display_name),
    icon: <EnvironmentDot bare name={one.name} color={one.color} />,
  }));
  const rows = (routes.data?.data ?? []).map((route, index) => {
    const served = configs[index]?.data?.data;
    const [one, other] = [served?.find((c) => c.environment_name === left?.name), served?.find((c) => c.environment_name === right?.name)];
    return {
      route,
      loaded: served !== undefined,
      lines: compared(one, other),
      missing: [missingSecrets(one, known), missingSecrets(other, known)] as const,
    };
  });
  const interesting = (row: (typeof rows)[number]) =>
    !row.loaded || row.lines.some((l) => l.differs) || row.missing.some((names) => names.length > 0);
  const shown = all ? rows : rows.filter(interesting);
  return (
    <Page>
      <Crumbs crumbs={[{ label: 'Compare' }]} />
      <PageHeader
        back={{ href: path('/environments'), label: 'Environments' }}
        title="Compare environments"
        description="Differences between routes, and secrets without a value."
      >
        {left && right && (
          <div className="flex flex-wrap items-center gap-2">
            <Select
              label="First environment"
              options={options}
              value={left.name}
              onValueChange={(name) => void set({ a: name, ...(name === right.name ? { b: left.name } : {}) })}
              className="w-48"
            />
            <IconButton label="Swap sides" icon={<ArrowLeftRight />} onClick={() => void set({ a: right.name, b: left.name })} />
            <Select
              label="Second environment"
              options={options}
              value={right.name}
              onValueChange={(name) => void set({ b: name, ...(name === left.name ? { a: right.name } : {}) })}
              className="w-48"
            />
            <Checkbox
              checked={all}
              onCheckedChange={(on) => void set({ all: on || null })}
              label="Show identical settings"
              className="ml-2"
            />
          </div>
        )}
      </PageHeader>
      {failed ? (
        <QueryError query={failed} what="Comparison" />
      ) : !environments.data || !routes.data ? (
        <Skeleton lines={8} label="Loading comparison" />
      ) : !left || !right ? (
        <EmptyState
          icon={<ArrowLeftRight />}
          title="Only one environment"
          action={
            <LinkButton variant="primary" href={path('/environments?edit=new')}>
              New environment
            </LinkButton>
          }
        >
          Create a second environment to compare the two.
        </EmptyState>
      ) : (
        <>
          <div className="relative overflow-x-auto rounded-lg border border-line-strong bg-surface">
            <table className="w-full border-separate sm:min-w-160 border-spacing-0 text-left">
              <caption className="sr-only">
                Routes in {left.display_name} and {right.display_name}
              </caption>
              <thead className="bg-subtle text-ink-3 text-xs">
                <tr>
                  <th scope="col" className="w-1/5 px-3 py-2 font-medium max-sm:hidden">
                    Route
                  </th>
                  <td className="px-3 py-2 sm:w-32" />
                  {[left, right].map((one) => (
                    <th key={one.id} scope="col" className="px-3 py-2 font-medium">
                      <EnvironmentDot name={one.display_name} color={one.color} />
                    </th>
                  ))}
                </tr>
              </thead>
              {shown.map((row) => (
                <RouteRows key={row.route.id} name={row.route.name} href={path(`/routes/${row.route.id}`)} {...row} />
              ))}
            </table>
            {shown.length === 0 && (
              <p className="p-4 text-ink-2">{rows.length === 0 ? 'No routes yet.' : 'No differences on this page.'}</p>
            )}
          </div>
          <MissingValues secrets={secrets} left={left} right={right} />
          <Pagination noun="routes" meta={routes.data.meta} onPage={(next) => void set({ page: next })} />
        </>
      )}
    </Page>
  );
}

type RouteRowsProps = {
  name: string;
  href: string;
  loaded: boolean;
  lines: ReturnType<typeof compared>;
  missing: readonly (readonly string[])[];
};

function RouteRows({ name, href, loaded, lines, missing }: RouteRowsProps) {
  const lacking = missing.some((names) => names.length > 0);
  const count = lines.length + (lacking ? 1 : 0);
  if (!loaded) {
    return (
      <tbody>
        <tr>
          <th scope="row" className={cn(cell, 'font-medium')}>
            {name}
          </th>
          <td colSpan={3} className={cn(cell, 'text-ink-3')}>
            Loading…
          </td>
        </tr>
      </tbody>
    );
  }
  const head = (
    <th scope="rowgroup" rowSpan={Math.max(1, count)} className={cn(cell, 'font-medium max-sm:hidden')}>
      <Link href={href} title={name} className="block max-w-[min(16rem,36vw)] truncate rounded-xs py-0.5 hover:underline">
        {name}
      </Link>
    </th>
  );
  return (
    <tbody>
      {/* On a phone the name stands over its lines: beside them there is no room for the values. */}
      <tr className="sm:hidden">
        <th scope="rowgroup" colSpan={3} className={cn(cell, 'font-medium')}>
          <Link href={href} className="rounded-xs py-0.5 [overflow-wrap:anywhere] hover:underline">
            {name}
          </Link>
        </th>
      </tr>
      {lines.map((one, index) => (
        <tr key={one.label}>
          {index === 0 && head}
          <th scope="row" className={cn(cell, 'font-normal text-ink-3 sm:whitespace-nowrap')}>
            {one.label}
            {one.differs && (
              <>
                <EqualNot aria-hidden className="ml-1.5 inline size-3.5 text-warn-ink" />
                <span className="sr-only">, differs</span>
              </>
            )}
          </th>
          {[one.a, one.b].map((text, side) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the two sides are the identity.
            <td key={side} className={cn(cell, one.differs ? 'bg-warn-soft font-medium' : 'text-ink-2')}>
              <span className="[overflow-wrap:anywhere]">{text}</span>
            </td>
          ))}
        </tr>
      ))}
      {lacking && (
        <tr>
          {lines.length === 0 && head}
          <th scope="row" className={cn(cell, 'font-normal text-ink-3 sm:whitespace-nowrap')}>
            Secrets
          </th>
          {missing.map((names, side) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <td key={side} className={cell}>
              <span className="flex flex-wrap gap-1">
                {names.map((secret) => (
                  <Badge key={secret} tone="bad" icon={<KeyRound />}>
                    No value: {secret}
                  </Badge>
                ))}
                {names.length === 0 && <span className="text-ink-2">All set</span>}
              </span>
            </td>
          ))}
        </tr>
      )}
    </tbody>
  );
}

const cell = 'border-line border-t px-3 py-1.5 align-top';

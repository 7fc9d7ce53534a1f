'use client';

import { CalendarClock, CalendarX2, Check, Plus } from 'lucide-react';
import { useState } from 'react';
import { usePath } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import type { SecretRow } from './secret-row.ts';
import { SecretState } from './secret-state.tsx';
import type { SetValueTarget } from './set-value-dialog.tsx';
import type { useEnvironments } from './use-environments.ts';
import { cellOf } from './value-state.ts';

const SetValueDialog = lazyOverlay(
  () => import('./set-value-dialog.tsx').then((module) => module.SetValueDialog),
  ({ target }) => target !== undefined,
);

type Props = { rows: readonly SecretRow[] | undefined; environments: ReturnType<typeof useEnvironments> };

/** Secret against environment: what is set and in which version, what is missing, what ends. Every cell sets or replaces that one value. */
export function SecretMatrix({ rows, environments }: Props) {
  const [target, setTarget] = useState<SetValueTarget>();
  const path = usePath();
  const [now] = useState(() => Date.now());
  const readOnly = useForbidden('secret:update');
  if (!rows || !environments) return <Skeleton lines={8} label="Loading secrets" />;
  return (
    <Scroll as="section" aria-label="Secrets by environment" className="overflow-x-auto rounded-lg border border-line-strong bg-surface">
      <table className="w-full border-separate border-spacing-0">
        <caption className="sr-only">Secrets and the environments they have values in</caption>
        <thead>
          <tr>
            <th scope="col" className={`${head} sticky left-0 z-10`}>
              Secret
            </th>
            {environments.map((environment) => (
              <th key={environment.id} scope="col" className={head}>
                <EnvironmentDot name={environment.display_name} color={environment.color} />
              </th>
            ))}
            <th scope="col" className={`${head} max-sm:hidden`}>
              Status
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((secret) => (
            <tr key={secret.id} className="group/row">
              <th scope="row" className={`${cellLook} sticky left-0 z-10 max-w-56 bg-surface text-left font-medium`}>
                <Link href={path(`/secrets/${secret.id}`)} className="block truncate rounded-xs font-mono text-xs hover:underline">
                  {secret.name}
                </Link>
              </th>
              {environments.map((environment) => {
                const cell = cellOf(secret, environment.name, now);
                const look = LOOKS[cell.state];
                return (
                  <td key={environment.id} className={cellLook}>
                    <Button
                      size="sm"
                      variant="ghost"
                      disabledReason={readOnly}
                      icon={look.icon}
                      onClick={() =>
                        setTarget({
                          secret,
                          environment,
                          version: 'version' in cell ? cell.version : undefined,
                          replaces: cell.state !== 'missing',
                        })
                      }
                      className={look.ink}
                    >
                      {look.word}
                      {'version' in cell && <span className="figures font-normal text-ink-3 text-xs">v{cell.version}</span>}
                      {cell.state !== 'missing' && cell.state !== 'set' && <Time value={cell.ends_at} className="font-normal text-xs" />}
                      <span className="sr-only">
                        : {secret.name} in {environment.display_name}
                      </span>
                    </Button>
                  </td>
                );
              })}
              <td className={`${cellLook} max-sm:hidden`}>
                <SecretState secret={secret} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <SetValueDialog target={target} onClose={() => setTarget(undefined)} />
    </Scroll>
  );
}

const LOOKS = {
  set: { icon: <Check className="text-good-ink" />, word: 'Set', ink: '' },
  missing: { icon: <Plus />, word: 'Missing', ink: 'text-warn-ink' },
  expiring: { icon: <CalendarClock />, word: 'Expiring', ink: 'text-warn-ink' },
  expired: { icon: <CalendarX2 />, word: 'Expired', ink: 'text-bad-ink' },
} as const;

const head = 'h-8 whitespace-nowrap border-line-strong border-b bg-subtle px-3 text-left font-medium text-ink-3 text-xs';
const cellLook = 'h-(--row-height) border-line border-b px-3 group-last/row:border-b-0';

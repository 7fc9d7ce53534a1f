'use client';

import { Check, Plus } from 'lucide-react';
import Link from 'next/link';
import { useState } from 'react';
import { usePath } from '#components/trpc/provider.tsx';
import { useReadOnlyReason } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { ExpiryChip } from './expiry.tsx';
import type { useEnvironments } from './places.ts';
import type { SecretRow } from './secret-columns.tsx';
import { SetValueDialog, type SetValueTarget } from './set-value-dialog.tsx';

type Props = { rows: readonly SecretRow[] | undefined; environments: ReturnType<typeof useEnvironments> };

/** Secret against environment: what is set, what is missing. Every cell sets or replaces that one value. */
export function SecretMatrix({ rows, environments }: Props) {
  const [target, setTarget] = useState<SetValueTarget>();
  const path = usePath();
  const readOnly = useReadOnlyReason();
  if (!rows || !environments) return <Skeleton lines={8} label="Loading the matrix" />;
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable from the keyboard.
      tabIndex={0}
      aria-label="Secrets by environment, scrolls sideways"
      className="overflow-x-auto rounded-lg border border-line-strong bg-surface"
    >
      <table className="w-full border-separate border-spacing-0">
        <caption className="sr-only">Which secret has a value in which environment</caption>
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
              Expiry
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((secret) => (
            <tr key={secret.id} className="group/row">
              <th scope="row" className={`${cell} sticky left-0 z-10 max-w-56 bg-surface text-left font-medium`}>
                <Link href={path(`/secrets/${secret.id}`)} className="block truncate rounded-xs font-mono text-xs hover:underline">
                  {secret.name}
                </Link>
              </th>
              {environments.map((environment) => {
                const set = secret.environment_names.includes(environment.name);
                return (
                  <td key={environment.id} className={cell}>
                    <Button
                      size="sm"
                      variant="ghost"
                      disabledReason={readOnly}
                      icon={set ? <Check className="text-good-ink" /> : <Plus />}
                      onClick={() => setTarget({ secret, environment, replaces: set })}
                      className={set ? '' : 'text-warn-ink'}
                    >
                      {set ? 'Set' : 'Missing'}
                      <span className="sr-only">
                        : {secret.name} in {environment.display_name}
                      </span>
                    </Button>
                  </td>
                );
              })}
              <td className={`${cell} max-sm:hidden`}>
                <ExpiryChip at={secret.expires_at} strict={secret.strict_expiry_enforcement} empty="—" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <SetValueDialog target={target} onClose={() => setTarget(undefined)} />
    </section>
  );
}

const head = 'h-8 whitespace-nowrap border-line-strong border-b bg-subtle px-3 text-left font-medium text-ink-3 text-xs';
const cell = 'h-(--row-height) border-line border-b px-3 group-last/row:border-b-0';

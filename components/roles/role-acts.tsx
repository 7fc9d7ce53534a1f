'use client';

import { Check, Minus } from 'lucide-react';
import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { QueryError } from '#components/trpc/query-error.tsx';
import { cn } from '#components/ui/cn.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';
import { type Act, familiesOf, type Grant } from './role-words.ts';

export type RoleActsProps = {
  grants: (capability: Capability) => Grant;
  /** Which other roles could do it, named after what this one may not. */
  others?: ((capability: Capability) => readonly string[]) | undefined;
  /** With the name of each capability and of its scope, for people who write tokens. */
  names?: boolean;
};

const list = new Intl.ListFormat('en', { type: 'disjunction' });

/** What a set of rights may and may not do, in the words of the operations themselves. */
export function RoleActs({ grants, others, names }: RoleActsProps) {
  const operations = useListedOperations();
  if (operations.error && !operations.data) return <QueryError query={operations} what="What can be done here" />;
  if (!operations.data) return <Skeleton lines={8} label="Loading what can be done here" />;
  const tail = ({ capability }: Act, grant: Grant) => {
    if (grant === 'own') return <span className="text-ink-3"> (only what they made themselves)</span>;
    if (grant === 'yes' || !others) return null;
    const able = others(capability);
    return <span className="text-ink-3"> ({able.length > 0 ? list.format(able) : 'nobody'} may)</span>;
  };
  const line = (act: Act, grant: Grant) => (
    <li key={act.capability} className="flex items-start gap-2 py-1 text-sm">
      {grant === 'no' ? (
        <Minus aria-hidden className="mt-1 size-3.5 shrink-0 text-ink-3" />
      ) : (
        <Check aria-hidden className="mt-1 size-3.5 shrink-0 text-good-ink" />
      )}
      <span className="min-w-0">
        <span className="sr-only">{grant === 'no' ? 'May not: ' : 'May: '}</span>
        {act.words.map((words, index) => (
          <span key={words} className={cn('block', grant === 'no' && 'text-ink-2')}>
            {words}
            {index === act.words.length - 1 && tail(act, grant)}
          </span>
        ))}
        {names && (
          <span className="block break-all font-mono text-2xs text-ink-3">
            {act.capability}
            {act.scope && `, scope ${act.scope}`}
          </span>
        )}
      </span>
    </li>
  );
  return (
    <div className="flex flex-col gap-4">
      {familiesOf(operations.data).map(({ title, acts }) => {
        const sorted = [...acts].sort((a, b) => Number(grants(a.capability) === 'no') - Number(grants(b.capability) === 'no'));
        return (
          <section key={title}>
            <h3 className="pb-0.5 font-medium text-ink-3 text-xs">{title}</h3>
            <ul>{sorted.map((act) => line(act, grants(act.capability)))}</ul>
          </section>
        );
      })}
    </div>
  );
}

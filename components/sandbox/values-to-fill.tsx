'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { type Plan, spaceWord } from './plan-text.ts';

/** Secrets that are there and have no value yet, each with the way to store it; nothing when there are none. */
export function ValuesToFill({ plan }: { plan: Pick<Plan, 'to' | 'missing_values'> }) {
  const { slug } = useScope();
  const waiting = plan.missing_values.filter((one) => one.secret_id !== null);
  if (waiting.length === 0) return null;
  const list = new Intl.ListFormat('en');
  return (
    <Callout
      tone="warn"
      title={
        waiting.length === 1
          ? `One secret in ${spaceWord(plan.to)} needs a value`
          : `${waiting.length} secrets in ${spaceWord(plan.to)} need values`
      }
    >
      <ul className="flex flex-col gap-1">
        {waiting.map((one) => (
          <li key={one.secret}>
            <Link className={textLink} href={`/${slug}/${plan.to}/secrets/${one.secret_id}`}>
              Set {one.secret}
            </Link>{' '}
            in {list.format(one.environments)}. Used by {shortened(one.routes)}.
          </li>
        ))}
      </ul>
    </Callout>
  );
}

const shortened = (names: readonly string[]): string => {
  const list = new Intl.ListFormat('en');
  return names.length <= 3 ? list.format(names) : list.format([...names.slice(0, 2), `${names.length - 2} more routes`]);
};

'use client';

import { Check } from 'lucide-react';
import { useScope } from '#components/trpc/provider.tsx';
import { Status } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { countedKind, type Item, type Plan, spaceWord, TYPES } from './plan-text.ts';
import { ValuesToFill } from './values-to-fill.tsx';

const ROUTES_SHOWN = 50;

/** What was made there, and what is left to do before it serves calls. */
export function PromotionResult({ plan, onAgain }: { plan: Plan; onAgain: () => void }) {
  const { slug } = useScope();
  const to = spaceWord(plan.to);
  const moved = plan.items.filter((item) => item.action === 'create' || item.action === 'update');
  const routes = moved.filter((item) => item.type === 'route');
  const others = TYPES.flatMap((type) => {
    const n = moved.filter((item) => item.type === type).length;
    return n > 0 ? [countedKind(n, type)] : [];
  });
  return (
    <>
      <ValuesToFill plan={plan} />
      <SectionCard
        title={
          <span className="flex items-center gap-2" role="status">
            <Check aria-hidden className="size-4 text-good-ink" />
            {new Intl.ListFormat('en').format(others)} {plan.to === 'live' ? 'promoted to Live' : 'copied to Test'}
          </span>
        }
        footer={
          <>
            <Button onClick={onAgain}>Move more</Button>
            <LinkButton variant="primary" href={`/${slug}/${plan.to}/routes`}>
              View routes in {to}
            </LinkButton>
          </>
        }
      >
        <div className="flex flex-col gap-3">
          {routes.length > 0 && (
            <ul className="flex flex-col divide-y divide-line">
              {routes.slice(0, ROUTES_SHOWN).map((item) => (
                <li key={item.source_id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-2">
                  <Link className={textLink} href={`/${slug}/${plan.to}/routes/${item.target_id ?? ''}`}>
                    {item.name}
                  </Link>
                  <RouteState item={item} plan={plan} slug={slug} />
                </li>
              ))}
            </ul>
          )}
          {routes.length > ROUTES_SHOWN && <p className="text-ink-2">and {grouped(routes.length - ROUTES_SHOWN)} more routes.</p>}
          <p className="text-ink-2">
            Recorded in the audit log:{' '}
            <Link className={textLink} href={`/${slug}/${plan.to}/audit?resource_type=sandbox`}>
              Audit log of {to}
            </Link>
            {plan.to === 'live' && (
              <>
                . To call it, create a{' '}
                <Link className={textLink} href={`/${slug}/live/api-keys?open=new`}>
                  live key
                </Link>
                .
              </>
            )}
          </p>
        </div>
      </SectionCard>
    </>
  );
}

/** Whether a route serves, or the next step to it. */
function RouteState({ item, plan, slug }: { item: Item; plan: Plan; slug: string }) {
  if (item.enabled) return <Status state="live">On</Status>;
  const names = [...new Set(item.needs_values.map((one) => one.secret))];
  if (names.length === 0) return <Status state="off">Off: open it to turn it on</Status>;
  const idOf = (name: string) => plan.missing_values.find((one) => one.secret === name)?.secret_id;
  return (
    <span className="flex flex-wrap items-center gap-x-1.5 text-ink-2">
      <Status state="pending">Off:</Status> set
      {names.map((name, i) => (
        <span key={name}>
          <Link className={textLink} href={`/${slug}/${plan.to}/secrets/${idOf(name) ?? ''}`}>
            {name}
          </Link>
          {i < names.length - 1 && ','}
        </span>
      ))}
      to turn it on
    </span>
  );
}

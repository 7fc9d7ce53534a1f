'use client';

import { useQuery } from '@tanstack/react-query';
import { Circle, CircleCheck, X } from 'lucide-react';
import { isStarter } from '#components/routes/host.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, IconButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Progress } from '#components/ui/progress.tsx';
import { useStored } from '#components/ui/use-stored.ts';

type Step = { label: string; href: string; done: boolean };

/** What is left of getting started, for those who may do it. Each step finds out from the data whether it is done; the card goes when all are, or when it is closed. */
export function Checklist() {
  const [closed, setClosed] = useClosed();
  const idle = useForbidden('route:create') !== undefined;
  const steps = useSteps(closed || idle);
  if (closed || idle || !steps || steps.every((step) => step.done)) return null;
  const done = steps.filter((step) => step.done).length;
  return (
    <SectionCard title="Getting started" actions={<IconButton size="sm" label="Dismiss" icon={<X />} onClick={() => setClosed(true)} />}>
      <div className="flex flex-col gap-3">
        <Share done={done} of={steps.length} />
        <ol className="flex flex-col gap-1">
          {steps.map((step) => (
            <li key={step.label}>
              <Link
                href={step.href}
                className={cn(
                  'flex min-h-7 items-center gap-2 rounded-sm px-1 hover:bg-subtle',
                  step.done ? 'text-ink-3 line-through decoration-line-control' : 'text-ink',
                )}
              >
                {step.done ? (
                  <CircleCheck aria-hidden className="size-4 shrink-0 text-good-ink" />
                ) : (
                  <Circle aria-hidden className="size-4 shrink-0 text-ink-3" />
                )}
                {step.label}
                <span className="sr-only">{step.done ? ', done' : ', to do'}</span>
              </Link>
            </li>
          ))}
        </ol>
      </div>
    </SectionCard>
  );
}

/** The list after it was closed: a ring in the page's head that says what is left and opens it again. */
export function ChecklistRing() {
  const [closed, setClosed] = useClosed();
  const idle = useForbidden('route:create') !== undefined;
  const steps = useSteps(!closed || idle);
  if (!closed || idle || !steps || steps.every((step) => step.done)) return null;
  const done = steps.filter((step) => step.done).length;
  const around = 2 * Math.PI * 6;
  return (
    <Button size="sm" variant="ghost" onClick={() => setClosed(false)}>
      <svg aria-hidden viewBox="0 0 16 16" className="size-4 -rotate-90">
        <circle cx="8" cy="8" r="6" fill="none" stroke="var(--line-strong)" strokeWidth="2.5" />
        <circle
          cx="8"
          cy="8"
          r="6"
          fill="none"
          className="text-accent"
          stroke="currentColor"
          strokeWidth="2.5"
          strokeDasharray={`${((done / steps.length) * around).toFixed(1)} ${around.toFixed(1)}`}
        />
      </svg>
      Getting started
      <span className="figures text-ink-3">
        {done} of {steps.length}
      </span>
    </Button>
  );
}

function Share({ done, of }: { done: number; of: number }) {
  const text = `${done.toString()} of ${of.toString()} done`;
  return (
    <div className="flex items-center gap-3">
      <Progress label="Getting started" done={done} of={of} text={text} className="flex-1" />
      <span aria-hidden className="figures text-ink-3 text-xs">
        {text}
      </span>
    </div>
  );
}

/** Undefined until everything is known: a list that ticks itself off while it is read would only confuse. */
function useSteps(closed: boolean): readonly Step[] | undefined {
  const trpc = useTRPC();
  const path = usePath();
  const { slug, space, email_verified } = useScope();
  const enabled = !closed;
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }, { enabled }));
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }, { enabled }));
  const calls = useQuery(trpc.requestLogs.browse.queryOptions({ per_page: 8 }, { enabled }));
  const keys = useQuery(trpc.apiKeys.list.queryOptions({ per_page: 1, active: true }, { enabled }));
  const clients = useQuery(trpc.clients.list.queryOptions({ per_page: 1 }, { enabled }));
  if (!routes.data || !secrets.data || !calls.data || !keys.data || !clients.data) return undefined;
  const own = routes.data.data.filter((route) => !isStarter(route));
  const called = calls.data.first_success_day !== null;
  const waiting = secrets.data.data.find((secret) => secret.environment_count === 0 && secret.reference_count > 0);
  return [
    // Test comes with a demonstration to call; in Live a call needs a route, a credential and a key first.
    ...(space === 'test' ? [{ label: 'Make your first call', href: path(''), done: called }] : []),
    // Interface rule 64 §6: promote or start empty, fill secrets, a live key, one call.
    space === 'live'
      ? { label: 'Promote a route from Test or create one', href: `/${slug}/test/promote`, done: routes.data.meta.total > 0 }
      : { label: 'Create a route to your API', href: path('/routes?create=true'), done: own.length > 0 },
    waiting
      ? { label: `Set a value for ${waiting.name}`, href: path(`/secrets/${waiting.id}`), done: false }
      : {
          label: 'Store the API credential as a secret',
          href: path('/secrets'),
          done: secrets.data.data.some((secret) => !secret.tags.includes('sample') && secret.reference_count > 0),
        },
    ...(space === 'live'
      ? [
          ...(email_verified === null ? [] : [{ label: 'Verify your email', href: '/me/profile', done: email_verified }]),
          { label: 'Create a live API key', href: path('/api-keys?open=new'), done: keys.data.meta.total > 0 },
          { label: 'Make your first live call', href: path('/routes'), done: called },
        ]
      : []),
    {
      label: 'Restrict callers',
      href: path('/clients'),
      done: clients.data.meta.total > 0 || own.some((route) => route.requires_clients),
    },
  ];
}

/** Whether the card was closed in this browser. */
function useClosed(): [closed: boolean, setClosed: (closed: boolean) => void] {
  const { slug, space } = useScope();
  const [value, setValue] = useStored(`sallyport:checklist:${slug}:${space}`, 'open');
  return [value === 'closed', (closed) => setValue(closed ? 'closed' : 'open')];
}

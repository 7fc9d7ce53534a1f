'use client';

import { LogOut } from 'lucide-react';
import { useState } from 'react';
import type { Person } from '#components/me/use-me.ts';
import { Button } from '#components/ui/button.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { Time } from '#components/ui/time.tsx';

const LeaveWorkspace = lazyOverlay(() => import('./leave-workspace.tsx').then((module) => module.LeaveWorkspace), whenOpen);

/** The workspaces of the person, each with the way out. */
export function WorkspacesCard({ me }: { me: Person }) {
  const [leaving, setLeaving] = useState<Person['workspaces'][number]>();
  return (
    <SectionCard title="Workspaces" description={<>Your account was created on {<Time value={me.user.created_at} format="date" />}.</>}>
      {me.workspaces.length === 0 ? (
        <p className="text-ink-3">You’re in no workspace.</p>
      ) : (
        <ul className="divide-y divide-line">
          {me.workspaces.map((workspace) => (
            <li key={workspace.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2.5">
              <span className="min-w-0 flex-1">
                <Link className="block truncate font-medium" href={`/${workspace.slug}`}>
                  {workspace.name}
                </Link>
                <span className="block text-ink-3 text-xs">
                  {workspace.slug} · {capitalize(workspace.role)}
                </span>
              </span>
              <Button
                size="sm"
                variant="danger-quiet"
                icon={<LogOut />}
                aria-label={`Leave ${workspace.name}`}
                onClick={() => setLeaving(workspace)}
              >
                Leave
              </Button>
            </li>
          ))}
        </ul>
      )}
      {leaving && <LeaveWorkspace workspace={leaving} email={me.user.email} id={me.user.id} open onClose={() => setLeaving(undefined)} />}
    </SectionCard>
  );
}

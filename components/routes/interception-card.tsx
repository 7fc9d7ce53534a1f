'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { interceptionNotes } from './interception-notes.ts';
import type { RouteDetailData } from './route-data.ts';
import { Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** Whether SDKs send calls for the upstream's host through the route, and what would keep them from it. */
export function InterceptionCard({ editor, route }: { editor: ConfigEditor; route: RouteDetailData }) {
  const trpc = useTRPC();
  const on = editor.value('intercept_enabled');
  const manifest = useQuery(trpc.opportunities.manifest.queryOptions({ environment: editor.env }, { enabled: on, staleTime: 30_000 }));
  const notes = on
    ? interceptionNotes(
        {
          ...{ id: route.id, slug: route.slug, enabled: route.enabled && editor.config.enabled },
          ...{ target: editor.value('target_base_url'), requiresClients: editor.value('requires_clients') },
        },
        manifest.data?.routes ?? [],
      )
    : [];
  return (
    <SectionCard title="Interception">
      <div className="flex flex-col gap-3">
        <Setting editor={editor} field="intercept_enabled" label="SDK calls" group>
          {({ value, set, disabled }) => (
            <Checkbox
              checked={value}
              onCheckedChange={set}
              disabled={disabled}
              label="Intercept calls to the upstream’s host"
              description="SDKs that intercept send these calls through the route, without changes to code. They learn of it within a minute."
            />
          )}
        </Setting>
        {notes.map(({ tone, title, text }) => (
          <Callout key={title} tone={tone} title={title}>
            {text}
          </Callout>
        ))}
      </div>
    </SectionCard>
  );
}

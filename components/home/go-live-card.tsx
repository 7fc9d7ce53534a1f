'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';

/** What is different in Live, before anybody goes there. */
export function GoLiveCard() {
  const { slug, proxy_url } = useScope();
  const stays = useForbidden('sandbox:promote') !== undefined;
  const rows = [
    ['Address', proxy_url, proxy_url.replace(`sandbox-${slug}`, slug)],
    ['Keys', 'Test keys, which work in Test only', 'Live keys, created in Live'],
    ['Secrets', 'Test values', 'Live values; none are copied'],
    ['Routes', 'The routes you build here', 'Routes you promote or create in Live'],
    ['Calls', 'Free; logs kept for 7 days', 'Metered; log retention depends on your plan'],
  ] as const;
  return (
    <SectionCard title="Go live" description="Test and Live share only your team. Here is what changes.">
      <div className="flex flex-col gap-4">
        <div className="overflow-x-auto rounded-md border border-line-strong">
          <table className="w-full text-left text-xs">
            <caption className="sr-only">Differences between Test and Live</caption>
            <thead className="bg-subtle text-ink-3">
              <tr>
                <td className="px-3 py-1.5" />
                <th scope="col" className="px-3 py-1.5 font-medium">
                  Test
                </th>
                <th scope="col" className="px-3 py-1.5 font-medium">
                  Live
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(([what, test, live]) => (
                <tr key={what} className="border-line border-t align-top">
                  <th scope="row" className="px-3 py-1.5 font-medium">
                    {what}
                  </th>
                  <td className="px-3 py-1.5 text-ink-2 [overflow-wrap:anywhere]">{test}</td>
                  <td className="px-3 py-1.5 text-ink-2 [overflow-wrap:anywhere]">{live}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <div className="flex flex-wrap gap-2">
          {stays ? (
            <LinkButton href={`/${slug}/live/routes?create=true`}>Create live route</LinkButton>
          ) : (
            <LinkButton href={`/${slug}/test/promote`}>Promote to Live</LinkButton>
          )}
          <LinkButton variant="ghost" href={`/${slug}/live/api-keys`}>
            Create live key
          </LinkButton>
        </div>
      </div>
    </SectionCard>
  );
}

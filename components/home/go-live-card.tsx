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
    ['Keys', 'Test keys (work here only)', 'Live keys, made there'],
    ['Secrets', 'values you can afford to lose', 'their own values; none is copied'],
    ['Routes', 'as you built them', 'those you promote, or make there'],
    ['Calls', 'free, logs kept 7 days', 'counted, logs kept as your plan says'],
  ] as const;
  return (
    <SectionCard title="Make it live" description="Test and Live share nothing but your team. This is what changes:">
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
            <LinkButton href={`/${slug}/live/routes?create=true`}>Create a live route</LinkButton>
          ) : (
            <LinkButton href={`/${slug}/test/promote`}>Promote to Live</LinkButton>
          )}
          <LinkButton variant="ghost" href={`/${slug}/live/api-keys`}>
            Create a live key
          </LinkButton>
        </div>
      </div>
    </SectionCard>
  );
}
